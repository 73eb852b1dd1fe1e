"""Markdown as a person would read it aloud: for summaries until a model writes one."""

import re
import unicodedata
from collections.abc import Iterator

from hearthmind.vault.markup import Span, SpanKind, blank, find_spans

_LOOKED_AT = 20_000
"""Characters of a body in which a first sentence is looked for."""
_FRONT = re.compile(r"\ufeff?---[ \t]*\n(?:.*\n)*?---[ \t]*(?:\n|\Z)")
_EMBED = re.compile(r"!\[\[[^\[\]\n]*+\]\]|!\[[^\[\]\n]*+\]\([^()\n]*+\)")
_WIKILINK = re.compile(r"\[\[([^\[\]|\n]*+)(?:\|((?:[^\[\]\n]|\](?!\])|\[(?!\[))*+))?+\]\]")
_LINK = re.compile(r"\[([^\[\]\n]*+)\]\((?:<[^<>\n]*+>|(?:[^()\n]|\([^()\n]*+\))*+)\)")
_FOOTNOTE = re.compile(r"\[\^[^\[\]\n]*+\]:?")
_HTML = re.compile(r"</?[a-zA-Z][^<>\n]*+>")
_AUTOLINK = re.compile(r"<((?:https?://|mailto:)[^<>\s]*+)>")
_LINE_START = re.compile(r"^[ \t]*+(?:>[ \t]*+)*+(?:\[![\w-]++\][+-]?[ \t]*+)?(?:#{1,6}[ \t]++)?", re.MULTILINE)
_ITEM = re.compile(r"^[ \t]*+(?:[-*+]|\d{1,9}[.)])[ \t]++(?:\[.\][ \t]++)?", re.MULTILINE)
_BLOCK_ID = re.compile(r"(?<!\S)\^[A-Za-z0-9-]++[ \t]*+$", re.MULTILINE)
_DOUBLED = re.compile(r"(\*\*|~~|==|(?<!\w)__)(?=\S)((?:(?!\1)[^\n])*+)\1")
_SINGLE = re.compile(r"(?<![\w*_])([*_])(?=[^\s*_])((?:(?!\1)[^\n])*+)\1(?![\w*_])")
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{}~])")  # not `\|`: it parts a link in a table
_HIDDEN = re.compile("\x0e([0-9]+)\x0f")
_RULE = re.compile(r"[ \t]*+(?:(?:[-*_=][ \t]*+){3,}|(?:[-=]){2,})\Z")
_TABLE = re.compile(r"[ \t>]*+\|")
_HEADING = re.compile(r"[ \t>]*+#{1,6}[ \t]")
_SENTENCE_END = re.compile(r"[.!?…]++[\"'”’»)\]]*+(?=\s|\Z)|[。！？｡]++[」』”’）》]*+")
_ABBREVIATION = re.compile(
    r"(?:\b(?:e\.g|i\.e|etc|vs|cf|al|approx|ca|no|nr|vol|fig|pp?|dr|mrs?|ms|prof|st|jr|sr|inc|ltd|"
    r"z\.\s?b|d\.\s?h|u\.\s?a|bzw|usw|ggf|evtl|vgl|p\.\s?ej|approx|ex)|(?:^|[\s(])\w|^\d+)\.\Z",
    re.IGNORECASE,
)


def plain_text(markdown: str) -> str:
    """`markdown` without its marks: links as the text they show, no emphasis marks, code ticks, heading
    hashes, list and quote marks, images, embeds, comments. Lines stay lines. Code stays as written."""
    pieces: list[str] = []
    last = 0
    for span in find_spans(markdown):
        pieces.append(_protect(markdown[last : span.start]))
        pieces.append(_shown(markdown, span))
        last = span.end
    pieces.append(_protect(markdown[last:]))
    kept: list[str] = []

    def hide(text: str) -> str:
        kept.append(text)
        return f"\x0e{len(kept) - 1}\x0f"

    for index, piece in enumerate(pieces):
        code = index % 2 == 1
        pieces[index] = hide(piece) if code else _ESCAPED.sub(lambda found: hide(found[1]), piece)
    text = _strip_marks("".join(pieces))
    return _HIDDEN.sub(lambda found: kept[int(found[1])], text).strip()


def _protect(text: str) -> str:
    """Without the two characters that mark what stands aside while marks are stripped around it."""
    return text.replace("\x0e", "").replace("\x0f", "") if "\x0e" in text or "\x0f" in text else text


def _shown(markdown: str, span: Span) -> str:
    inner = markdown[span.inner[0] : span.inner[1]]
    if span.kind is SpanKind.COMMENT:
        return ""
    return inner.strip() if span.kind in (SpanKind.CODE, SpanKind.MATH) else inner.rstrip("\n")


def _strip_marks(text: str) -> str:
    text = _EMBED.sub("", text)
    text = _WIKILINK.sub(_wikilink_text, text)
    text = _LINK.sub(r"\1", text)
    text = _AUTOLINK.sub(r"\1", _FOOTNOTE.sub("", text))
    text = _HTML.sub("", text)
    text = _ITEM.sub("", _LINE_START.sub("", text))
    text = _BLOCK_ID.sub("", text)
    return _SINGLE.sub(r"\2", _DOUBLED.sub(r"\2", text)).replace("\\|", "|")


def _wikilink_text(found: re.Match[str]) -> str:
    if found[2] is not None:
        return found[2].strip()
    name, _, rest = found[1].rstrip("\\").partition("#")
    parts = [name.strip().rpartition("/")[2].removesuffix(".md"), *rest.split("#")]
    return " > ".join(part.strip() for part in parts if part.strip() and not part.strip().startswith("^"))


def first_sentence(body: str, limit: int = 160) -> str:
    """The first sentence of prose in a body, at most `limit` characters, cut between words with `…`.

    Headings, code, tables, images, rules and comments are passed over; without prose it is the first
    heading, else the first line of code, else empty.
    """
    head = body[:_LOOKED_AT]
    if front := _FRONT.match(head):
        head = head[front.end() :]
    spans = find_spans(head)
    hidden = [span for span in spans if span.kind in (SpanKind.FENCE, SpanKind.INDENTED, SpanKind.COMMENT)]
    for paragraph in _paragraphs(blank(head, hidden)):
        text = " ".join(plain_text(paragraph).split())
        if any(char.isalnum() for char in text):
            return _cut(_sentence(text), limit)
    return _cut(_fallback(head, spans), limit)


def _paragraphs(text: str) -> Iterator[str]:
    lines: list[str] = []
    for line in text.split("\n"):
        other = not line.strip(" \t>") or _HEADING.match(line) or _TABLE.match(line) or _RULE.match(line)
        if lines and (other or _ITEM.match(line)):
            yield from _unless_heading(lines, line)
            lines = []
        if not other:
            lines.append(line)
    if lines:
        yield "\n".join(lines)


def _unless_heading(lines: list[str], after: str) -> Iterator[str]:
    underlined = len(lines) == 1 and re.fullmatch(r" {0,3}(?:={2,}|-{2,})[ \t]*", after)
    if not underlined:
        yield "\n".join(lines)


def _sentence(text: str) -> str:
    for found in _SENTENCE_END.finditer(text):
        sentence = text[: found.end()]
        following = text[found.end() :].lstrip()
        if found[0][0] == "." and (following[:1].islower() or _ABBREVIATION.search(sentence[-12:])):
            continue
        if len(sentence) >= 12 or len(sentence.split()) > 2 or found[0][0] in "。！？｡":
            return sentence
    return text


def _cut(text: str, limit: int) -> str:
    if len(text) <= limit:
        return text
    head = text[: limit - 1]
    if not text[limit - 1].isspace() and (space := head.rfind(" ")) > limit // 2:
        head = head[:space]
    else:
        head = head[: _whole_characters(text, len(head))]
    return head.rstrip(" ,;:-–—、，") + "…"


def _whole_characters(text: str, end: int) -> int:
    """Not between a character and what is combined with it."""
    while end > 1 and (unicodedata.combining(text[end]) or text[end] in "\u200d\ufe0f" or text[end - 1] == "\u200d"):
        end -= 1
    return end


def _fallback(head: str, spans: list[Span]) -> str:
    code = [span for span in spans if span.kind in (SpanKind.FENCE, SpanKind.INDENTED)]
    lines = blank(head, [span for span in spans if span in code]).split("\n")
    for place, line in enumerate(lines):
        below = lines[place + 1] if place + 1 < len(lines) else ""
        if _HEADING.match(line) or (line.strip() and re.fullmatch(r" {0,3}(?:={2,}|-{2,})[ \t]*", below)):
            return " ".join(plain_text(line).split())
    for span in code:
        for line in head[span.inner[0] : span.inner[1]].split("\n"):
            if line.strip():
                return " ".join(line.split())
    return ""
