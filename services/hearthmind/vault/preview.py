"""What adopting a folder would mean, told before anything is written (`hearthmind adopt --dry-run`)."""

import itertools
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from hearthmind.vault.ignore import Ignore
from hearthmind.vault.layout import AGENTS_PAGE, FOLDERS, Layout
from hearthmind.vault.mark import MARK_PATH, Kind, Mark, kind_of, mounted
from hearthmind.vault.records import Problem
from hearthmind.vault.walk import Findings, walk


@dataclass(frozen=True, slots=True)
class Sample:
    """How many, and the first few."""

    count: int
    examples: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Preview:
    """The vault as it would be taken over. `ignored` is by reason, folders with a slash at the end counted
    once; `created` are the vault-relative paths that Hearthmind would add, the last in time as they fill."""

    kind: Kind
    notes: Sample
    note_bytes: int
    others: Sample
    ignored: dict[str, Sample]
    problems: Sequence[Problem]
    created: Sequence[str]


def preview(root: Path, today: date, folder: str | None = None, examples: int = 5) -> Preview:
    """Look at a folder and write nothing. `folder` is HEARTHMIND_FOLDER. Raises VaultNotMounted when a mark
    is there and damaged, OSError when the folder itself cannot be read."""
    marked = (root / MARK_PATH).exists()
    mark = mounted(root) if marked else Mark(kind_of(root), "", "")
    ignore = Ignore(root)
    findings = Findings()
    notes = list(walk(root, ignore, findings))
    reasons: defaultdict[str, list[str]] = defaultdict(list)
    for path, reason in findings.ignored:
        reasons[reason].append(path)
    return Preview(
        kind=mark.kind,
        notes=_sample((note.path for note in notes), examples),
        note_bytes=sum(note.size for note in notes),
        others=_sample(findings.others, examples),
        ignored={reason: _sample(paths, examples) for reason, paths in sorted(reasons.items())},
        problems=[*ignore.problems, *findings.problems],
        created=[path for path in _created(Layout.of(mark, folder), today) if not (root / path).exists()],
    )


def _created(layout: Layout, today: date) -> list[str]:
    pages = [layout.path(AGENTS_PAGE)]
    return [MARK_PATH, *pages, *(layout.path(folder) + "/" for folder in FOLDERS), layout.daily_path(today)]


def _sample(paths: Iterable[str], examples: int) -> Sample:
    known = list(paths)
    return Sample(len(known), tuple(itertools.islice(known, examples)))
