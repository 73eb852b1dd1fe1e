"""What a model wants to read before a query and before a passage, by the model's name.

Each family was trained with its own words; without them its vectors lose much of their worth. The source is
the model card of each family.
"""

import hashlib
import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Prefixes:
    query: str = ""
    passage: str = ""


NONE = Prefixes()
_SEARCH = "Represent this sentence for searching relevant passages: "
_TASK = "Given a web search query, retrieve relevant passages that answer the query"

# First match wins: the particular stands before the family.
_FAMILIES: tuple[tuple[str, Prefixes], ...] = (
    (r"e5-.*instruct|e5-mistral|gte-qwen", Prefixes(query=f"Instruct: {_TASK}\nQuery: ")),
    (r"qwen3-embedding", Prefixes(query=f"Instruct: {_TASK}\nQuery:")),
    (r"\be5-|-e5-|\be5\b", Prefixes("query: ", "passage: ")),
    (r"bge-m3|bge-multilingual|bge-.*-unsup|llm-embedder", NONE),
    (r"bge-.*-zh", Prefixes(query="为这个句子生成表示以用于检索相关文章：")),
    (r"\bbge-", Prefixes(query=_SEARCH)),
    (r"nomic-embed-text|nomic-embed-v|modernbert-embed", Prefixes("search_query: ", "search_document: ")),
    (r"mxbai-embed-de|deepset-mxbai", Prefixes("query: ", "passage: ")),
    (r"mxbai-embed", Prefixes(query=_SEARCH)),
    (r"snowflake-arctic-embed.*(v2|embed2)|arctic-embed2", Prefixes(query="query: ")),
    (r"arctic-embed", Prefixes(query=_SEARCH)),
    (r"embeddinggemma", Prefixes("task: search result | query: ", "title: none | text: ")),
    (r"stella", Prefixes(query=f"Instruct: {_TASK}.\nQuery: ")),
    # gte, MiniLM, mpnet, granite, potion, jina and whatever is not listed read the bare text.
)


def prefixes_for(model: str) -> Prefixes:
    """The prefixes of the family that `model` (a hub name, an Ollama name or a folder's) belongs to."""
    name = model.lower().replace("_", "-")
    return next((prefixes for pattern, prefixes in _FAMILIES if re.search(pattern, name)), NONE)


def identity(name: str, chosen: Prefixes, usual: Prefixes) -> str:
    """The name of vectors made with `chosen` prefixes: other words before the text are other vectors."""
    if chosen == usual:
        return name
    return f"{name}+{hashlib.sha256(repr(chosen).encode()).hexdigest()[:6]}"
