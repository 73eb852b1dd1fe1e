"""One answer is at most 40,000 characters."""

import pytest
from pydantic import BaseModel

from hearthmind.gateway.bounds import bounded, size
from hearthmind.house import contract as c
from hearthmind.model import MemoryType, RelationType, Route

LIMIT = c.MAX_ANSWER_CHARACTERS
BASE = {"id": "A", "title": "T", "url": "u"}
PLACE = {"path": "p.md", "type": MemoryType.NOTE}


def _memory(text: str, properties: dict[str, object] | None = None) -> c.MemoryView:
    more = {"space": "home", "date": None, "tags": [], "summary": "", "importance": 5, "version": "v"}
    return c.MemoryView(**BASE, **PLACE, **more, text=text, properties=properties or {})


def _hit(text: str) -> c.HitView:
    signals = c.SignalsView(keyword=1, meaning=None, graph=None)
    more = {"space": "home", "date": None, "summary": "", "lines": [1, 2], "score": 1.0, "refs": [], "reason": ""}
    return c.HitView(**BASE, **PLACE, **more, text=text, signals=signals)


def _recalled(context: str, *texts: str) -> c.Recalled:
    hits = [_hit(text) for text in texts]
    return c.Recalled(query="q", route=Route.BOTH, context=context, degraded=[], took_ms=1, hits=hits)


def _related(count: int) -> c.Related:
    more = {"summary": "s" * 200}
    nodes = [c.RelatedNode(**{**BASE, **PLACE, **more, "id": str(n), "distance": n % 4}) for n in range(count)]
    edges = [c.RelatedEdge(source="0", target=str(n), type=RelationType.ABOUT) for n in range(1, count)]
    return c.Related(nodes=nodes, edges=edges)


@pytest.mark.parametrize(
    "answer",
    [
        _memory('quote " and line\n' * 10_000),
        _memory("\x01" * 50_000),
        _memory("x", {"big": "y" * 100_000}),
        c.Fetched(**BASE, text="é\n" * 50_000, metadata={}),
        _recalled("c" * 30_000, *["t" * 9_000] * 8),
        _recalled("c" * 90_000, "t"),
        _related(400),
    ],
)
def test_an_answer_too_long_is_cut(answer: BaseModel) -> None:
    assert size(bounded(answer, c.SpacesRequest())) <= LIMIT


def test_a_page_that_was_cut_says_where_to_go_on() -> None:
    text = "".join(f"line {number}\n" for number in range(20_000))
    offset, read = 0, ""
    while offset is not None:
        whole = c.Fetched(**BASE, text=text[offset:], metadata={})
        page = bounded(whole, c.FetchRequest(id="A", offset=offset))
        assert isinstance(page, c.Fetched)
        read += page.text
        offset = page.metadata.get("next_offset")
    assert read == text


def test_what_fits_is_left_alone() -> None:
    answer = _recalled("c", "t")
    assert bounded(answer, c.SpacesRequest()) is answer
