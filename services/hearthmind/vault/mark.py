"""The mark of a vault, `.hearthmind/vault.json`: whose vault it is, and whether it is there at all."""

import json
import os
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Any

from ulid import ULID

from hearthmind.errors import VaultNotMounted
from hearthmind.vault import durable

OWN_FOLDER = ".hearthmind"
MARK_PATH = f"{OWN_FOLDER}/vault.json"
SCHEMA = 1
_MEANINGLESS = frozenset({"desktop.ini", "thumbs.db", "lost+found", "$recycle.bin", "system volume information"})


class Kind(StrEnum):
    OURS = "ours"
    """It was empty when we first saw it."""
    ADOPTED = "adopted"
    """It held somebody's files already."""


@dataclass(frozen=True, slots=True)
class Mark:
    """What the mark says, decided once and never rewritten. `created` is ISO 8601 in UTC."""

    kind: Kind
    id: str
    created: str
    schema: int = SCHEMA


def claim(root: Path) -> Mark:
    """Mount a vault that was never seen before: its mark, made now unless there is one.

    Creates the folder when it does not exist. Two processes that claim at once get the same mark. Raises
    VaultNotMounted when the folder holds records of ours without the mark (half synced, half restored),
    DiskFull or VaultNotWritable when the mark cannot be written.
    """
    with durable.faults_named(os.fspath(root)):
        if (root / MARK_PATH).exists():
            return mounted(root)
        durable.make_folders(root)
        kind = kind_of(root)
        _refuse_orphaned_records(root)
        mark = Mark(kind, str(ULID()), datetime.now(UTC).isoformat(timespec="seconds"))
        own = root / OWN_FOLDER
        durable.make_folders(own)
        temp = durable.write_temporary(own, (json.dumps(asdict(mark), indent=2) + "\n").encode())
        try:
            durable.place(temp, root / MARK_PATH)
        except FileExistsError:
            return mounted(root)
        finally:
            temp.unlink(missing_ok=True)
    return mark


def mounted(root: Path, expected_id: str | None = None) -> Mark:
    """The mark of a vault that was seen before. Raises VaultNotMounted when the folder or the mark is
    missing, unreadable or damaged, or is the mark of another vault than `expected_id`. Creates nothing."""
    try:
        fields = json.loads((root / MARK_PATH).read_bytes())
        mark = _from_fields(fields)
    except OSError as fault:
        raise _not_mounted(root, fault.strerror or str(fault)) from fault
    except (ValueError, KeyError, TypeError) as fault:
        raise VaultNotMounted(
            f"The mark {root / MARK_PATH} is damaged. Restore it from a backup or from the history; until"
            " then nothing is written to this vault.",
            vault=os.fspath(root),
        ) from fault
    if expected_id is not None and mark.id != expected_id:
        raise _not_mounted(root, f"the mark there is that of another vault ({mark.id})")
    return mark


class Mount:
    """Whether a vault lies in its place: this very one, where its id is known (another disk may be mounted
    there). Safe to share between threads."""

    def __init__(self, root: Path, expected_id: str | None = None) -> None:
        self.root = root
        self._expected = expected_id
        self._seen: tuple[int, int, int, int] | None = None

    def require(self) -> None:
        """A glance before every write, one stat while the mark is unchanged. Raises VaultNotMounted."""
        try:
            found = os.stat(self.root / MARK_PATH)  # noqa: PTH116
        except OSError as fault:
            raise _not_mounted(self.root, fault.strerror or str(fault)) from fault
        stamp = (found.st_dev, found.st_ino, found.st_mtime_ns, found.st_size)
        if self._expected is not None and stamp != self._seen:
            mounted(self.root, self._expected)
            # Of the stat before the look: a mark exchanged in between is looked at once more.
            self._seen = stamp


def require_mark(root: Path, expected_id: str | None = None) -> None:
    """One glance; whoever writes often keeps a `Mount`. Raises VaultNotMounted."""
    Mount(root, expected_id).require()


def kind_of(root: Path) -> Kind:
    """What a folder without a mark would be claimed as. Hidden entries and the litter of operating systems
    do not make it somebody's."""
    with os.scandir(root) as entries:
        meaningful = any(not _is_meaningless(entry.name) for entry in entries)
    return Kind.ADOPTED if meaningful else Kind.OURS


def _is_meaningless(name: str) -> bool:
    return name.startswith((".", "~syncthing~")) or name.casefold() in _MEANINGLESS


def _refuse_orphaned_records(root: Path) -> None:
    own = root / OWN_FOLDER
    if own.is_dir() and any(not durable.is_temporary(one.name) for one in own.iterdir()):
        if (root / MARK_PATH).exists():
            return
        raise VaultNotMounted(
            f"{own} holds records of Hearthmind but no vault.json: the vault is perhaps still being synced or"
            " restored. Wait, restore vault.json, or remove that folder to begin anew.",
            vault=os.fspath(root),
        )


def _from_fields(fields: Any) -> Mark:
    return Mark(Kind(fields["kind"]), str(fields["id"]), str(fields["created"]), int(fields["schema"]))


def _not_mounted(root: Path, reason: str) -> VaultNotMounted:
    return VaultNotMounted(
        f"The vault at {root} is not mounted: {reason}. Mount the disk or share that holds it; nothing is"
        " written or created in its place.",
        vault=os.fspath(root),
    )
