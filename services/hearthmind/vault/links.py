"""Which note a link means: Obsidian's rules over names and paths, then aliases, then former paths."""

import unicodedata
from bisect import bisect_left, insort
from collections.abc import Iterable
from dataclasses import dataclass

from hearthmind.model import Link

_ATTACHMENTS = frozenset(
    {"avif", "bmp", "gif", "jpeg", "jpg", "png", "svg", "webp"}
    | {"flac", "m4a", "mp3", "ogg", "wav", "webm", "3gp"}
    | {"mkv", "mov", "mp4", "ogv", "pdf", "base", "canvas"}
)
"""Extensions that Obsidian shows as files of their own; a link to one is no link to a note."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One note of the index. Paths are vault-relative with `/`."""

    id: str
    path: str
    aliases: tuple[str, ...] = ()
    former_paths: tuple[str, ...] = ()


class LinkIndex:
    """All notes of a vault by name, path, alias and former path; kept up to date one note at a time.

    A lookup costs a few dictionary reads; among many notes of one name it also searches those of the
    source's folder.
    """

    def __init__(self, entries: Iterable[Entry] = ()) -> None:
        self._entries: dict[str, Entry] = {}
        self._exact: dict[str, str] = {}
        self._names = _Suffixes()
        self._aliases = _Suffixes()
        self._former = _Suffixes()
        for entry in entries:
            self.add(entry)

    def __len__(self) -> int:
        return len(self._entries)

    def add(self, entry: Entry) -> None:
        """Add a note, or replace what is known of its id."""
        self.remove(entry.id)
        self._entries[entry.id] = entry
        self._exact[unicodedata.normalize("NFC", entry.path)] = entry.id
        for suffixes, key in _keys(self, entry):
            suffixes.add(key, entry)

    def remove(self, id: str) -> None:
        """Forget a note; one that is not known is no error."""
        entry = self._entries.pop(id, None)
        if entry is None:
            return
        path = unicodedata.normalize("NFC", entry.path)
        if self._exact.get(path) == id:
            del self._exact[path]
        for suffixes, key in _keys(self, entry):
            suffixes.remove(key, entry)

    def path_of(self, id: str) -> str | None:
        """Where a note of the index lies."""
        entry = self._entries.get(id)
        return entry.path if entry else None

    def id_at(self, path: str) -> str | None:
        """The id of the note at a path."""
        return self._exact.get(unicodedata.normalize("NFC", path))

    def resolve(self, link: Link, source_path: str) -> str | None:
        """The id of the note that a link in the note at `source_path` means, None where there is none.

        In this order: `./` and `../` against the source's folder; for Markdown links the path seen from that
        folder; the path from the root of the vault; a name or the end of a path, notes below the source's
        folder first, then the fewest folders, then the alphabet; aliases; former paths. Letter case and
        Unicode form do not matter. Attachments, and paths that leave the vault, mean no note.
        """
        if not link.target:
            return self._exact.get(unicodedata.normalize("NFC", source_path))
        target = link.target.strip()
        if not _names_note(target):
            return None
        folder = source_path.rpartition("/")[0]
        if target.startswith(("./", "../")) or target in (".", ".."):
            path = _join(folder, target)
            return None if path is None else self._at(path) or self._formerly_at(path)
        path = _join("", target.lstrip("/"))
        if path is None:
            return None
        if target.startswith("/"):
            return self._at(path) or self._formerly_at(path)
        beside = _join(folder, target) if link.markdown else None
        return (
            (self._at(beside) if beside else None)
            or self._at(path)
            or self._names.best(_key(path), folder)
            or self._aliases.best(_alias_key(target), folder)
            or (self._formerly_at(beside) if beside else None)
            or self._former.best(_key(path), folder)
        )

    def _at(self, path: str) -> str | None:
        """The note at exactly this path, its own letter case before any other."""
        normal = unicodedata.normalize("NFC", path)
        return self._exact.get(normal) or self._exact.get(f"{normal}.md") or self._names.whole(_key(path))

    def _formerly_at(self, path: str) -> str | None:
        return self._former.whole(_key(path))


def keys_of(path: str, aliases: Iterable[str] = (), former_paths: Iterable[str] = ()) -> set[str]:
    """The keys of all links that a note with this path and these aliases could resolve: compare `key_of`."""
    return {_last(name) for name in (path, *aliases, *former_paths)} - {""}


def key_of(link: Link) -> str:
    """The key by which a link that resolves to nothing is found again; empty for a link into its own note."""
    return _last(link.target)


class _Suffixes:
    """Notes by every end of their path: `c`, `b/c`, `a/b/c`."""

    def __init__(self) -> None:
        self._found: dict[str, list[tuple[str, str]]] = {}
        self._whole: dict[str, list[tuple[str, str]]] = {}
        self._best: dict[str, str] = {}

    def add(self, key: str, entry: Entry) -> None:
        place = (_key(entry.path), entry.id)
        insort(self._whole.setdefault(key, []), place)
        for suffix in _suffixes(key):
            self._best.pop(suffix, None)
            insort(self._found.setdefault(suffix, []), place)

    def remove(self, key: str, entry: Entry) -> None:
        place = (_key(entry.path), entry.id)
        _discard(self._whole, key, place)
        for suffix in _suffixes(key):
            self._best.pop(suffix, None)
            _discard(self._found, suffix, place)

    def whole(self, key: str) -> str | None:
        found = self._whole.get(key)
        return found[0][1] if found else None

    def best(self, key: str, folder: str) -> str | None:
        found = self._found.get(key)
        if not found:
            return None
        if len(found) == 1:
            return found[0][1]
        if folder:
            prefix = _fold(folder) + "/"
            low = bisect_left(found, (prefix, ""))
            high = bisect_left(found, (prefix[:-1] + "0", ""))  # "0" is the character after "/"
            if low < high:
                return min(found[low:high], key=_nearness)[1]
        if key not in self._best:
            self._best[key] = min(found, key=_nearness)[1]
        return self._best[key]


def _keys(index: LinkIndex, entry: Entry) -> list[tuple[_Suffixes, str]]:
    return [
        (index._names, _key(entry.path)),
        *((index._aliases, key) for key in {_alias_key(alias) for alias in entry.aliases} - {""}),
        *((index._former, key) for key in {_key(path) for path in entry.former_paths} - {""}),
    ]


def _discard(places: dict[str, list[tuple[str, str]]], key: str, place: tuple[str, str]) -> None:
    found = places.get(key, [])
    at = bisect_left(found, place)
    if at < len(found) and found[at] == place:
        del found[at]
    if not found:
        places.pop(key, None)


def _nearness(place: tuple[str, str]) -> tuple[int, str, str]:
    path, id = place
    return path.count("/"), path, id


def _suffixes(key: str) -> list[str]:
    parts = key.split("/")
    return ["/".join(parts[start:]) for start in range(len(parts))]


def _fold(text: str) -> str:
    """Obsidian compares lower case; Unicode form is made one, too, because file systems differ in it."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).lower())


def _key(path: str) -> str:
    return _fold(path).removesuffix(".md")


def _alias_key(alias: str) -> str:
    return _fold(" ".join(alias.split())).removesuffix(".md")


def _last(name: str) -> str:
    return _alias_key(name).strip("/ ").rpartition("/")[2].strip()


def _names_note(target: str) -> bool:
    return "." not in target or target.rpartition(".")[2].lower() not in _ATTACHMENTS


def _join(folder: str, target: str) -> str | None:
    """`target` seen from a folder; None where it leaves the vault or names no file."""
    parts = folder.split("/") if folder else []
    for part in target.split("/"):
        if part == "..":
            if not parts:
                return None
            parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    return "/".join(parts) or None
