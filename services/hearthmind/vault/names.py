"""File names from titles: valid on Linux, Windows, macOS and in Obsidian, and still readable."""

import re
import unicodedata
from collections.abc import Callable

UNTITLED = "Untitled"
LIMIT_BYTES = 180

_MEANING = {
    "/": "-",
    "\\": "-",
    "|": "-",
    ":": "-",
    "*": " ",
    "?": "",
    '"': "'",
    "<": "‹",
    ">": "›",
    "#": "♯",
    "^": "ˆ",
    "[": "(",
    "]": ")",
}
_REPLACED = str.maketrans(_MEANING)
_EDGES = "/\\|:*?. \t\n"
_BLANK = re.compile("[\u115f\u1160\u3164\uffa0\u2800]")
"""Letters by category that show nothing: a name of them alone would be invisible."""
_PREPENDED = frozenset("\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2")
"""Arabic and Syriac signs that are format characters by category but visible."""
_ZWNJ, _ZWJ = "\u200c", "\u200d"
_RESERVED = re.compile(r"(con|prn|aux|nul|(com|lpt)[0-9¹²³]|conin\$|conout\$) *(\.|$)", re.IGNORECASE)
_SYNC_TOOL = re.compile(r"^(~syncthing~|~\$|\.)+|\.(?=sync-conflict-)", re.IGNORECASE)
_OWN_SUFFIX = re.compile(r"\.(md)$", re.IGNORECASE)
_HEADING = re.compile(r"\A\s*#{1,6}\s+")


def safe_name(title: str, limit_bytes: int = LIMIT_BYTES) -> str:
    """The stem of a file name for `title`, in NFC, at most `limit_bytes` (from 20) of UTF-8, never empty.

    Forbidden characters become readable ones; what no system shows or what turns text around (controls, bidi
    marks, zero-width characters) is dropped, joiners inside words and emoji stay. Idempotent. A name never
    looks like a file of a sync tool, a hidden file or a device of Windows, so what we write we also read.
    """
    name = unicodedata.normalize("NFC", _HEADING.sub("", title))
    for _ in range(8):
        before = name
        name = _once(name, limit_bytes)
        if name == before:
            break
    return name or UNTITLED


def fold(name: str) -> str:
    """The key under which two names are the same: equal for any two that macOS, Windows or Obsidian could
    take for one (case, Unicode form, compatibility forms, invisible characters, trailing dots and spaces)."""
    for _ in range(4):
        before = name
        visible = "".join(char for char in unicodedata.normalize("NFKD", name) if not _unseen(char))
        name = unicodedata.normalize("NFKC", visible.upper().casefold())
        name = " ".join(name.split()).rstrip(". ")
        if name == before:
            break
    return name


def unique_name(stem: str, taken: Callable[[str], bool], limit_bytes: int = LIMIT_BYTES) -> str:
    """`stem`, or `stem 2`, `stem 3` …: the first that is not taken (a free one, not always the lowest, when
    dozens are), cut so that the number fits."""
    if not taken(stem):
        return stem
    number = 2
    while taken(_numbered(stem, number, limit_bytes)):
        number += 1 if number < 50 else number // 2
    return _numbered(stem, number, limit_bytes)


def cut(text: str, limit_bytes: int) -> str:
    """The longest start of `text` within `limit_bytes` of UTF-8 that ends between two visible characters (an
    emoji sequence, a letter with its marks stay whole), at a word where one ends in the second half."""
    raw = text.encode()
    if len(raw) <= limit_bytes:
        return text
    end = len(raw[:limit_bytes].decode(errors="ignore"))
    whole = end
    while whole > 0 and not _boundary(text, whole):
        whole -= 1
    kept = text[: whole or end]
    space = kept.rfind(" ") if text[len(kept)] != " " else len(kept)
    return kept[:space] if space > len(kept) // 2 else kept


def _once(name: str, limit_bytes: int) -> str:
    name = _SYNC_TOOL.sub(lambda found: "" if found.start() == 0 else " ", name)
    name = name.strip(_EDGES).replace(": ", " - ").translate(_REPLACED)
    name = re.sub("%{2,}", "%", name)
    name = " ".join("".join(filter(_kept, _BLANK.sub(" ", name))).split())
    name = unicodedata.normalize("NFC", _without_loose_joiners(name)).strip(". ")
    while name and unicodedata.category(name[0]) in ("Mn", "Me", "Mc"):
        name = name[1:]
    name = _OWN_SUFFIX.sub(r" \1", cut(name, limit_bytes)).strip(". ")
    if device := _RESERVED.match(name):
        stem = device.group(1)
        name = cut(f"{stem}_{name[len(stem) :].lstrip(' ')}", limit_bytes)
    return name or UNTITLED


def _kept(char: str) -> bool:
    category = unicodedata.category(char)
    if category == "Cf":
        return char in (_ZWNJ, _ZWJ) or char in _PREPENDED
    if category == "Cc":
        return char in "\t\n\r\v\f\x85"
    if category == "Cn":  # macOS takes assigned characters only; new emoji are ahead of our tables
        return 0x1F000 <= ord(char) <= 0x1FAFF
    if category == "Co":  # Samba, WSL and macOS map forbidden characters into this range
        return not 0xF000 <= ord(char) <= 0xF0FF
    return category != "Cs"


def _without_loose_joiners(name: str) -> str:
    """Joiners stay only between two visible characters, one at a time."""
    return re.sub(f"^[{_ZWNJ}{_ZWJ}]+|[{_ZWNJ}{_ZWJ}]+(?= |$|[{_ZWNJ}{_ZWJ}])|(?<= )[{_ZWNJ}{_ZWJ}]+", "", name)


def _unseen(char: str) -> bool:
    return (
        (unicodedata.category(char) in ("Cf", "Cc") and not char.isspace())
        or "\ufe00" <= char <= "\ufe0f"
        or "\U000e0100" <= char <= "\U000e01ef"
        or char == "\u034f"
    )


def _numbered(stem: str, number: int, limit_bytes: int) -> str:
    ending = f" {number}"
    return cut(stem, limit_bytes - len(ending)).rstrip(". ") + ending


def _boundary(text: str, at: int) -> bool:
    """Whether a visible character ends before position `at` (UAX 29 as far as names need it)."""
    before, after = text[at - 1], text[at]
    if _ZWJ in (before, after) or unicodedata.category(after) in ("Mn", "Me", "Mc", "Cf"):
        return False
    if "\U0001f3fb" <= after <= "\U0001f3ff":  # skin tones
        return False
    if _is_flag(before) and _is_flag(after):
        start = at
        while start > 0 and _is_flag(text[start - 1]):
            start -= 1
        return (at - start) % 2 == 0
    return not ("\u1160" <= after <= "\u11ff")  # vowels and finals of Hangul


def _is_flag(char: str) -> bool:
    return "\U0001f1e6" <= char <= "\U0001f1ff"
