"""How generated pages carry our mark, and AGENTS.md, of which only a part is ours."""

import json
import re
from importlib import resources
from typing import Any

_LINE = re.compile(rb"(?:\xef\xbb\xbf)?%% hearthmind:generated\b[^\n]*%%[ \t]*(?:\r?\n|$)")
_DATA = re.compile(rb'\s*\{\s*"hearthmind:generated"\s*:')
_WORDS = "made by Hearthmind from the notes; changes here are overwritten"
BEGIN = "<!-- hearthmind:begin (this part is rewritten; write above or below it) -->"
END = "<!-- hearthmind:end -->"
_BEGIN = re.compile(rb"^<!-- hearthmind:begin\b[^\n]*-->[ \t]*(?=\r?$)", re.MULTILINE)
_END = re.compile(rb"^<!-- hearthmind:end\b[^\n]*-->[ \t]*(?=\r?$)", re.MULTILINE)


def generated_page(kind: str, body: str) -> bytes:
    """A Markdown page with our mark as its first line, an Obsidian comment that readers do not see."""
    return f"%% hearthmind:generated {kind}: {_WORDS} %%\n\n{body.rstrip()}\n".encode()


def generated_data(kind: str, value: dict[str, Any]) -> bytes:
    """A JSON page with our mark as its first member."""
    marked = {"hearthmind:generated": f"{kind}: {_WORDS}", **value}
    return (json.dumps(marked, ensure_ascii=False, indent=1) + "\n").encode()


def is_generated(raw: bytes) -> bool:
    """Whether these bytes carry our mark at their very start; a page that somebody gave front matter or
    a first line of his own is his."""
    return _LINE.match(raw) is not None or _DATA.match(raw) is not None


def agents_text() -> str:
    """How agents should use this memory: the fixed words of AGENTS.md."""
    return resources.files(__package__).joinpath("agents.md").read_text(encoding="utf-8")


def render_agents(existing: bytes | None, generated: str) -> bytes | None:
    """AGENTS.md with `generated` between our markers, every byte outside them as it was.

    A new file when there is none. None when the file is not ours to touch: no markers, or markers that do
    not pair up. The answer equals `existing` when nothing changed. Line ends follow the file's.
    """
    part = _defused(generated).strip("\n")
    if existing is None:
        return f"{BEGIN}\n{part}\n{END}\n".encode()
    begins, ends = list(_BEGIN.finditer(existing)), list(_END.finditer(existing))
    if len(begins) != 1 or len(ends) != 1 or begins[0].end() > ends[0].start():
        return None
    newline = b"\r\n" if existing[begins[0].end() : begins[0].end() + 1] == b"\r" else b"\n"
    inner = newline + part.encode().replace(b"\n", newline) + newline
    return existing[: begins[0].end()] + inner + existing[ends[0].start() :]


def without_generated_part(raw: bytes) -> bytes:
    """What the person wrote in AGENTS.md, which alone may be indexed."""
    begins, ends = list(_BEGIN.finditer(raw)), list(_END.finditer(raw))
    if len(begins) != 1 or len(ends) != 1 or begins[0].end() > ends[0].start():
        return raw
    return raw[: begins[0].start()] + raw[ends[0].end() :].removeprefix(b"\r").removeprefix(b"\n")


def _defused(text: str) -> str:
    """The words of notes stand in the generated part: none may close it or speak as a marker."""
    clean = text.replace("\r\n", "\n").replace("\r", "\n").encode(errors="replace").decode()
    return re.sub(r"<!--(?=\s*hearthmind:)", "<!- -", clean)
