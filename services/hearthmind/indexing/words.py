"""Words of a text for full-text search: folded, stemmed per language, bigrams where words are not spaced.

Stemming: Snowball (Porter, https://snowballstem.org). Bigrams for Chinese, Japanese and Korean as in Lucene's
CJKBigramFilter.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources

from py_rust_stemmers import SnowballStemmer

from hearthmind.settings import LANGUAGES_BY_CODE

# Scripts written without spaces between words: kana, Han, Hangul, Thai, Lao, Myanmar, Khmer.
_UNSPACED = (
    "\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
    "\u1100-\u11ff\uac00-\ud7af\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"
)
_MARKS = "".join(chr(code) for code in range(0x300, 0x10000) if unicodedata.category(chr(code)) in {"Mn", "Mc"})
"""Vowel signs and the like, which Python's \\w leaves out: they are part of words in Indic scripts."""
_TOKEN = re.compile(rf"(?P<run>[{_UNSPACED}]+)|(?P<word>[^\W_{_UNSPACED}](?:[^\W_{_UNSPACED}]|[{_MARKS}])*)")
_DIACRITICS = re.compile("[\u0300-\u036f\u0591-\u05c7\u064b-\u065f\u0670]+")
_MAX_WORD = 64
"""Longer 'words' are base64 and the like; their first characters still find them."""


@dataclass(frozen=True, slots=True)
class Terms:
    """`stems` carry the search; `words` are unreduced forms that differ from their stems, and the single
    characters of unspaced scripts."""

    stems: tuple[str, ...]
    words: tuple[str, ...]


def fold(text: str) -> str:
    """Case and accents folded, compatibility forms unified; marks that are letters of their script stay."""
    decomposed = unicodedata.normalize("NFKD", text.casefold())
    return unicodedata.normalize("NFKC", _DIACRITICS.sub("", decomposed))


class Words:
    """Analyses text for the languages of a house. The same analyser must serve notes and questions."""

    def __init__(self, languages: Sequence[str]) -> None:
        self._stemmers = [SnowballStemmer(LANGUAGES_BY_CODE[code]) for code in languages if code in LANGUAGES_BY_CODE]
        self._stop = frozenset(fold(word) for code in languages for word in _function_words(code))
        self._forms = lru_cache(maxsize=50_000)(self._forms_of)
        # A session is read whole for every turn that is added to it, a hit up to three times.
        self._texts = lru_cache(maxsize=1_024)(self._terms_of)

    def of_text(self, text: str) -> Terms:
        """Every word of a text, in order, repeats included."""
        return self._texts(text)

    def _terms_of(self, text: str) -> Terms:
        stems: list[str] = []
        words: list[str] = []
        for unspaced, token in _tokens(text):
            if unspaced:
                stems.extend(_bigrams(token))
                words.extend(token)
            else:
                reduced, raw = self._forms(token)
                stems.extend(reduced)
                words.extend(raw)
        return Terms(tuple(stems), tuple(words))

    def of_question(self, text: str) -> Terms:
        """The distinct words that carry a question: stop words only when there is nothing else."""
        tokens = list(dict.fromkeys(_tokens(text)))
        meaningful = [pair for pair in tokens if pair[0] or fold(pair[1]) not in self._stop]
        stems: list[str] = []
        words: list[str] = []
        for unspaced, token in meaningful or tokens:
            if unspaced:
                stems.extend(_bigrams(token))
                if len(token) == 1:
                    words.append(token)
            else:
                reduced, raw = self._forms(token)
                stems.extend(reduced)
                words.extend(raw)
        return Terms(tuple(dict.fromkeys(stems)), tuple(dict.fromkeys(words)))

    def _forms_of(self, word: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
        # Stemmers know their language's accents, so they see the word before it is folded.
        lowered = word.lower()
        folded = fold(word)
        stems = tuple(dict.fromkeys(fold(stemmer.stem_word(lowered)) or folded for stemmer in self._stemmers))
        if not stems:
            return (folded,), ()
        return stems, () if folded in stems else (folded,)


def _function_words(code: str) -> list[str]:
    file = resources.files(__package__) / "function_words" / f"{code}.txt"
    return file.read_text(encoding="utf-8").split() if file.is_file() else []


def _tokens(text: str) -> Iterator[tuple[bool, str]]:
    """(written without spaces?, token) in order. Composed first, so that an accent never splits a word."""
    for match in _TOKEN.finditer(unicodedata.normalize("NFKC", text)):
        if run := match.group("run"):
            yield True, run
        else:
            word = match.group("word")
            yield False, word[:_MAX_WORD]


def _bigrams(run: str) -> Iterable[str]:
    return (run[i : i + 2] for i in range(len(run) - 1)) if len(run) > 1 else (run,)
