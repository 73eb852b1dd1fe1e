"""Compare the vault with the catalog and bring what differs up to date."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from time import monotonic

from hearthmind.indexing.entries import former_paths
from hearthmind.indexing.identity import identify
from hearthmind.indexing.mounted import MountedSpace
from hearthmind.indexing.project import ReadNote, own_id, read_note
from hearthmind.indexing.store import drop_vectors, forget_note, put_notes, reload_links, settle
from hearthmind.model.index import IndexedFile, Problem
from hearthmind.telemetry import get_logger
from hearthmind.vault import records
from hearthmind.vault.durable import version_of
from hearthmind.vault.files import FileStat
from hearthmind.vault.identity import Identity
from hearthmind.vault.layout import AGENTS_PAGE
from hearthmind.vault.note import parse_note
from hearthmind.vault.pages import is_generated, without_generated_part
from hearthmind.vault.walk import Findings, Unseen, walk

BATCH = 200
"""Notes per transaction: a person's remember waits at most for one of these."""
MASS_DELETION = (20, 0.2)
"""More notes than this, and a larger share, vanishing at once is taken for a fault."""

log = get_logger(__name__)


@dataclass(slots=True)
class SyncReport:
    """What a comparison found, in notes."""

    added: int = 0
    changed: int = 0
    moved: int = 0
    removed: int = 0
    unreadable: int = 0
    looked_seconds: float = 0.0
    """How long looking took, without bringing in what differed."""

    @property
    def any(self) -> bool:
        return bool(self.added or self.changed or self.moved or self.removed)


def sync(space: MountedSpace, stopping: Callable[[], bool] = lambda: False) -> SyncReport:
    """One full comparison. Nothing is removed that could merely not be looked at. Progress is in
    `space.progress`. Raises VaultNotMounted."""
    with space.comparing:
        return _compared(space, stopping)


def _compared(space: MountedSpace, stopping: Callable[[], bool]) -> SyncReport:
    space.require_mounted()
    report = SyncReport()
    started = monotonic()
    findings = Findings()
    space.identities.refresh()
    space.ignore = space.ignore.fresh()
    # The catalog is read before the walk: what is remembered meanwhile is then new, never vanished.
    known = space.catalog.files()
    seen = {stat.path: stat for stat in walk(space.files.root, space.ignore, findings)}
    unseen = Unseen(findings.problems)
    vanished = [path for path in known if path not in seen and not unseen.covers(path)]
    work = [stat for stat in seen.values() if _differs(known.get(stat.path), stat)]
    report.looked_seconds = monotonic() - started
    space.progress.total, space.progress.done = len(seen), len(seen) - len(work)
    space.progress.active = bool(work)
    try:
        comparison = _Comparison(space, known, seen, unseen, {stat.path for stat in work}, report, findings.problems)
        # Asked again: a disk that went away during the walk leaves an empty folder, not deleted notes.
        space.require_mounted()
        kept = _bring_in(comparison, work, stopping)
        _remove(space, [known[path] for path in vanished if known[path].id not in kept], len(known), report)
    finally:
        space.progress.active = False
    _note_problems(space, findings.problems)
    if report.any:
        log.info(
            "vault_compared",
            space=space.name,
            added=report.added,
            changed=report.changed,
            moved=report.moved,
            removed=report.removed,
        )
    return report


def _differs(known: IndexedFile | None, stat: FileStat) -> bool:
    return known is None or known.state.size != stat.size or known.state.mtime_ns != stat.mtime_ns


@dataclass(slots=True)
class _Comparison:
    """What one comparison knows: the catalog and the vault as they were when it began, and where every id
    lies by now."""

    space: MountedSpace
    known: Mapping[str, IndexedFile]
    seen: Mapping[str, FileStat]
    unseen: Unseen
    changed: set[str]
    report: SyncReport
    problems: list[records.Problem]
    paths: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.paths = {one.id: one.path for one in self.known.values()}

    def vanished(self, path: str) -> bool:
        """Whether there is surely no file at a path any more, in this comparison or one before."""
        return path not in self.seen and not self.unseen.covers(path)

    def taken_elsewhere(self, note_id: str, path: str) -> bool:
        """Whether another file has this id: one that is unchanged, or one that says so now. Two notes that
        exchanged their names are both changed, and neither says the other's id."""
        other = self.paths.get(note_id)
        if other is None or other == path or self.vanished(other):
            return False
        return other not in self.changed or self._says(other) in (note_id, None)

    def _says(self, path: str) -> str | None:
        raw = self.space.files.find(path)
        return own_id(parse_note(raw).properties) if raw is not None else ""


def _bring_in(comparison: _Comparison, work: Sequence[FileStat], stopping: Callable[[], bool]) -> set[str]:
    """New and changed files, in batches; returns the ids that are alive in them."""
    alive: set[str] = set()
    space = comparison.space
    for batch in _batches(work):
        if stopping():
            return {*alive, *(file.id for file in comparison.known.values())}
        notes, identities, touched = [], [], []
        for stat in batch:
            known = comparison.known.get(stat.path)
            try:
                found = _read(comparison, stat, known)
            except Exception as error:
                # One note that cannot be read must not keep the others out of the index.
                found = None
                comparison.report.unreadable += 1
                comparison.problems.append(records.Problem(stat.path, f"cannot be read: {error}", unread=True))
                log.exception("note_not_read", space=space.name, path=stat.path)
                if known:
                    alive.add(known.id)
            if isinstance(found, IndexedFile):
                alive.add(found.id)
                touched.append((found.id, stat))
            elif found:
                note, identity = found
                _count(comparison.report, note, identity, comparison.paths)
                alive.add(identity.id)
                comparison.paths[identity.id] = stat.path
                notes.append(note)
                identities.append(identity)
        _record(space, identities, notes)
        _commit(space, notes, touched)
        space.progress.done += len(batch)
    return alive


def _read(
    comparison: _Comparison, stat: FileStat, known: IndexedFile | None
) -> tuple[ReadNote, Identity] | IndexedFile | None:
    """A file as a note; as what is known of it, when only its times changed; None for a generated page."""
    space = comparison.space
    raw = space.files.read(stat.path)
    if known and version_of(raw) == known.version:
        return known
    if space.layout.is_page_path(stat.path):
        if is_generated(raw):
            return None
        if stat.path.rpartition("/")[2] == AGENTS_PAGE:
            own = without_generated_part(raw)
            if not own.strip():
                return None
            raw = own

    def taken_elsewhere(note_id: str) -> bool:
        return comparison.taken_elsewhere(note_id, stat.path)

    identity = identify(space, stat.path, raw, taken_elsewhere, comparison.vanished)
    return read_note(space, raw, stat, identity.id), identity


def _count(report: SyncReport, note: ReadNote, identity: Identity, paths: Mapping[str, str]) -> None:
    before = paths.get(identity.id)
    if before is None:
        report.added += 1
    elif before != note.memory.path:
        report.moved += 1
    else:
        report.changed += 1


def _record(space: MountedSpace, identities: Sequence[Identity], notes: Sequence[ReadNote]) -> None:
    """Into the identity log go notes that do not carry their id, and the former paths of moved ones."""
    rows = []
    for identity, note in zip(identities, notes, strict=True):
        known = space.identities.by_id(identity.id)
        before = space.catalog.memory(identity.id)
        moved = before is not None and before.path != identity.path
        if note.memory.ours and known is None and not moved:
            continue
        former = former_paths(space, identity.id)
        if moved and before:
            former = tuple(path for path in (*former, before.path) if path != identity.path)
        row = Identity(identity.id, identity.path, former or identity.former, identity.text_hash)
        if known is None or (known.path, known.former, known.text_hash) != (row.path, row.former, row.text_hash):
            rows.append(row)
    if rows:
        space.identities.record(rows)


def _commit(space: MountedSpace, notes: Sequence[ReadNote], touched: Sequence[tuple[str, FileStat]] = ()) -> None:
    if not notes and not touched:
        return
    try:
        with space.catalog.write() as write:
            for note_id, stat in touched:
                write.touch(note_id, stat.path, stat.size, stat.mtime_ns)
            put_notes(space, write, notes)
            for note in notes:
                write.set_problem(note.memory.path, _problem_of(note))
    except Exception:
        reload_links(space)
        raise
    settle(space, notes)


def _problem_of(note: ReadNote) -> Problem | None:
    if note.memory.problem is None:
        return None
    return Problem(
        note.memory.path,
        None,
        note.memory.problem,
        "Correct the front matter in your editor; until then the text is searchable and the file is not written.",
    )


def _remove(space: MountedSpace, gone: Sequence[IndexedFile], total: int, report: SyncReport) -> None:
    """Forget files that are no longer there; many at once wait for a person's word."""
    many, share = MASS_DELETION
    if len(gone) > many and len(gone) > share * total:
        warning = (
            f"{len(gone)} of {total} notes have vanished from the vault at once; nothing is removed from the index. "
            "If the disk or the sync is at fault, mend it. If they are meant to be gone, delete the folder "
            f"{space.name} in the state folder and start again."
        )
        space.warnings[:] = [warning]
        return
    space.warnings.clear()
    if not gone:
        return
    removed = []
    space.require_mounted()
    with space.catalog.write() as write:
        keys: list[int] = []
        for file in gone:
            memory = space.catalog.memory(file.id)
            if memory is None or memory.path != file.path or (space.files.root / file.path).is_file():
                continue  # moved, forgotten or written anew while the vault was walked
            keys.extend(forget_note(space, write, file.id))
            write.set_problem(file.path, None)
            removed.append((file.id, file.path, memory.aliases))
    drop_vectors(space, keys)
    settle(space, [], removed)
    report.removed += len(removed)


def _note_problems(space: MountedSpace, problems: Sequence[records.Problem]) -> None:
    """Problems of the walk replace those of the walk before."""
    found = {one.path: one for one in [*problems, *space.ignore.problems, *space.identities.problems]}
    with space.catalog.write() as write:
        for old in space.catalog.problems():
            if old.remedy == WALK_REMEDY and old.path not in found:
                write.set_problem(old.path, None)
        for path, one in found.items():
            write.set_problem(path, Problem(path, one.line, one.message, WALK_REMEDY))


WALK_REMEDY = "See the file in the vault; what is at fault there is said beside it."


def _batches(work: Sequence[FileStat]) -> Iterator[Sequence[FileStat]]:
    for start in range(0, len(work), BATCH):
        yield work[start : start + BATCH]
