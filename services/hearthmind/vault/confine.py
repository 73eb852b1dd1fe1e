"""Vault-relative paths, and the refusal of everything that leads out of the vault."""

import os
import re
from dataclasses import dataclass
from pathlib import Path

from hearthmind.errors import PathOutsideVault

_DRIVE = re.compile(r"[A-Za-z]:(?:/|$)") if os.name != "nt" else re.compile(r"[A-Za-z]:")


@dataclass(frozen=True, slots=True)
class Place:
    """Where a vault-relative path really is. `named` is the directory entry (its folder resolved, the last
    name not); `real` the file behind it, symlinks followed. Both lie inside the vault."""

    named: Path
    real: Path


def flaw_of(path: str) -> str | None:
    """Why `path` is not a plain vault-relative path with `/`, or None if it is one."""
    if not path:
        return "it is empty"
    if "\0" in path or "\\" in path:
        return "it holds a backslash or NUL"
    if path.startswith("/") or _DRIVE.match(path):
        return "it is absolute"
    if not {"", ".", ".."}.isdisjoint(path.split("/")):
        return "it holds an empty part, `.` or `..`"
    if not path.isascii() and not _encodable(path):
        return "its name is not valid UTF-8"
    return None


def place_of(root: Path, path: str) -> Place:
    """Resolve a vault-relative path. Raises PathOutsideVault for anything but a path that stays inside,
    with every symlink followed; a symlink from inside to inside is fine."""
    if flaw := flaw_of(path):
        raise PathOutsideVault(f"{path!r} is not a path inside the vault: {flaw}.", path=path)
    base = os.path.realpath(root)
    folder, name = os.path.split(path)
    named = os.path.join(os.path.realpath(os.path.join(base, folder)), name)  # noqa: PTH118
    real = os.path.realpath(named)
    for one in (os.path.dirname(named), real):  # noqa: PTH120
        if not within(base, one):
            raise PathOutsideVault(f"{path} leads out of the vault through a symbolic link.", path=path)
    return Place(Path(named), Path(real))


def within(base: str, path: str) -> bool:
    """Whether the real path `path` is `base` or lies under it."""
    return path == base or path.startswith(base.rstrip(os.sep) + os.sep)


def _encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
