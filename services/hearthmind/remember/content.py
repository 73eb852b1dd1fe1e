"""What may become a memory, checked before anything is written."""

import re
import unicodedata

from hearthmind.errors import InvalidInput, TooLarge
from hearthmind.indexing.mounted import MountedSpace
from hearthmind.vault.prose import first_sentence, plain_text

MAX_TITLE = 1_000
MADE_TITLE = 80
"""Characters of a title made from the content."""


def checked_text(space: MountedSpace, text: str, what: str = "content") -> str:
    """Text with LF line ends and one final newline. Raises InvalidInput, TooLarge."""
    size = len(text.encode(errors="surrogatepass"))
    if size > space.max_content_bytes:
        raise TooLarge(
            f"{what} is {size / 1024:.0f} KB; one memory holds at most {space.max_content_bytes // 1024} KB "
            "(HEARTHMIND_MAX_CONTENT_KB). Split it, or save it as a file in the vault, where any size is read."
        )
    if "\0" in text:
        raise InvalidInput(f"{what} holds NUL characters, so it is binary data; send text as UTF-8.")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise InvalidInput(
            f"{what} is not valid Unicode at character {error.start} (a lone surrogate); send text as UTF-8."
        ) from None
    clean = text.replace("\r\n", "\n").replace("\r", "\n").strip("\n")
    if not clean.strip():
        raise InvalidInput(f"{what} is empty; say what to remember.")
    return clean + "\n"


def checked_title(title: str | None, body: str) -> str:
    """The title in one line; made from the content when none is given."""
    if title is None:
        return _made_title(body)
    clean = " ".join("".join(c if unicodedata.category(c) not in {"Cc", "Cs"} else " " for c in title).split())
    if not clean:
        return _made_title(body)
    if len(clean) > MAX_TITLE:
        raise InvalidInput(f"title has {len(clean)} characters; at most {MAX_TITLE}. Put the text in content.")
    return clean


def _made_title(body: str) -> str:
    heading = re.match(r"#{1,6}[ \t]+(.+)", body.lstrip())
    text = plain_text(heading[1]) if heading else first_sentence(body, MADE_TITLE)
    words = " ".join(text.split()).rstrip(".。")
    if len(words) <= MADE_TITLE:
        return words or "Untitled"
    cut = words[:MADE_TITLE]
    return (cut[: cut.rfind(" ")] if " " in cut[MADE_TITLE // 2 :] else cut).rstrip(" ,;:.…") + "…"
