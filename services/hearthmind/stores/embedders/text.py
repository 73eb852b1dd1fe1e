"""Any string at all made fit for a tokenizer, and its length in tokens estimated."""

import math

_CHARACTERS_PER_TOKEN = 12
_BYTES_PER_TOKEN = 4


def readable(text: str) -> str:
    """`text` as valid Unicode without NULs: surrogate pairs joined, lone surrogates replaced by U+FFFD."""
    if not text.isascii():
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text.replace("\0", " ")


def shortened(text: str, tokens: int) -> str:
    """The beginning of `text` that surely holds its first `tokens` tokens of ordinary writing.

    Tokenizers read all they are given before they truncate: 100,000 characters cost 25 ms for nothing.
    """
    keep = tokens * _CHARACTERS_PER_TOKEN
    if len(text) <= keep:
        return text
    return " ".join(text[: keep * 4].split())[:keep]


def estimated_tokens(text: str) -> int:
    """Tokens of `text` for a model whose tokenizer is elsewhere.

    Four bytes of UTF-8 a token: right within a quarter for English, Cyrillic and Chinese alike.
    """
    return math.ceil(len(text.encode("utf-8", "replace")) / _BYTES_PER_TOKEN) + 2
