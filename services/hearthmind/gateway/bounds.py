"""One answer is at most 40,000 characters (DESIGN §6). The house bounds what it knows to be long; this is
the last line, for what adds up."""

from collections.abc import Callable
from typing import Any

from pydantic import BaseModel

from hearthmind.house import contract as c

MORE = "\n… (the rest was left out; fetch gives it in pages)"


def size(answer: BaseModel) -> int:
    return len(answer.model_dump_json())


def fitting_page(ask: Callable[[Any], Any], request: Any, limit: int = c.MAX_ANSWER_CHARACTERS) -> Any:
    """A page of a list that fits: a shorter one, with its own `next`, where the page asked for does not."""
    answer = ask(request)
    while size(answer) > limit and request.limit > 1:
        request = request.model_copy(update={"limit": max(1, min(request.limit, len(answer.items)) // 2)})
        answer = ask(request)
    return answer


def bounded(answer: BaseModel, request: BaseModel, limit: int = c.MAX_ANSWER_CHARACTERS) -> BaseModel:
    """The answer within `limit` characters of JSON; what is cut says so."""
    excess = size(answer) - limit
    if excess <= 0:
        return answer
    match answer:
        case c.Fetched():
            return _shorter_page(answer, excess, request.offset if isinstance(request, c.FetchRequest) else 0)
        case c.MemoryView():
            return _shorter_memory(answer, excess, limit)
        case c.Recalled():
            return _shorter_hits(answer, limit)
        case c.Related():
            return _fewer_nodes(answer, limit)
        case c.Status():
            return answer.model_copy(update={"problems": answer.problems[:10], "warnings": answer.warnings[:10]})
        case _:
            return answer


def _kept(text: str, excess: int) -> str:
    """The beginning of `text`, at least `excess` characters of JSON shorter, whatever had to be escaped."""
    return text[: max(0, len(text) - excess - len(MORE) - 100)]


def _shorter_page(answer: c.Fetched, excess: int, offset: int) -> c.Fetched:
    kept = _kept(answer.text, excess)
    return answer.model_copy(
        update={"text": kept, "metadata": {**answer.metadata, "next_offset": offset + len(kept)}},
    )


def _shorter_memory(answer: c.MemoryView, excess: int, limit: int) -> c.MemoryView:
    shorter = answer.model_copy(update={"text": _kept(answer.text, excess) + MORE})
    return shorter if size(shorter) <= limit else shorter.model_copy(update={"properties": {}, "summary": ""})


def _shorter_hits(answer: c.Recalled, limit: int) -> c.Recalled:
    hits = list(answer.hits)
    for place in range(len(hits) - 1, -1, -1):
        hits[place] = hits[place].model_copy(update={"text": hits[place].text[:200] + "…"})
        answer = answer.model_copy(update={"hits": hits})
        if size(answer) <= limit:
            return answer
    excess = size(answer) - limit
    return answer.model_copy(update={"context": _kept(answer.context, excess) + "…"})


def _fewer_nodes(answer: c.Related, limit: int) -> c.Related:
    nodes = sorted(answer.nodes, key=lambda node: node.distance)
    while nodes and size(answer) > limit:
        nodes = nodes[: len(nodes) * 3 // 4]
        shown = {node.id for node in nodes}
        edges = [edge for edge in answer.edges if edge.source in shown and edge.target in shown]
        answer = answer.model_copy(update={"nodes": nodes, "edges": edges})
    return answer
