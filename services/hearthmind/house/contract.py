"""Requests and answers of every operation: what MCP, REST, the command line and the socket speak."""

import json
from typing import Annotated, Any, Generic, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, field_validator

from hearthmind.model import JobState, MemoryType, Mode, Outcome, RelationType, Route, WaitingReason

ImportanceWord = Literal["low", "medium", "high"]
Importance = Annotated[int, Field(ge=1, le=10)] | ImportanceWord
IMPORTANCE_OF_WORD = {"low": 3, "medium": 5, "high": 8}
MAX_QUERY_CHARACTERS = 100_000
MAX_ANSWER_CHARACTERS = 40_000


MAX_PROPERTIES = 200
MAX_PROPERTIES_BYTES = 64 * 1024
MAX_PROPERTY_DEPTH = 32
MAX_SOURCE_KEYS = 20
MAX_SOURCE_BYTES = 4 * 1024
MAX_PROJECT_CHARACTERS = 200


def _depth(value: Any) -> int:
    """Levels of lists and mappings, without recursion."""
    deepest, pending = 0, [(value, 0)]
    while pending:
        one, level = pending.pop()
        deepest = max(deepest, level)
        inner = one.values() if isinstance(one, dict) else one if isinstance(one, list) else ()
        pending.extend((each, level + 1) for each in inner)
    return deepest


class Request(BaseModel):
    """A request; unknown members are refused, so that a misspelt one is noticed."""

    model_config = ConfigDict(extra="forbid")


class SpaceRequest(Request):
    space: str | None = Field(default=None, description="Which space; needed only by a caller who has several.")


class WriteRequest(SpaceRequest):
    idempotency_key: str | None = Field(
        default=None, max_length=200, description="The same key within 24 h gives the first answer again."
    )


class Answer(BaseModel):
    model_config = ConfigDict(extra="forbid")


Item = TypeVar("Item")


class Listing(Answer, Generic[Item]):
    """A page of a list. `next` is the cursor of the next page, null on the last."""

    items: list[Item]
    next: str | None
    total: int


# --- memories ---------------------------------------------------------------------------------------------


class MemoryView(Answer):
    """A memory as it is stored. `version` changes with every change of the note's bytes."""

    id: str
    space: str
    title: str
    path: str
    url: str
    type: MemoryType
    date: str | None
    tags: list[str]
    summary: str
    importance: int
    version: str
    text: str
    properties: dict[str, Any]


class SimilarMemory(Answer):
    id: str
    title: str
    url: str
    score: float = Field(description="Cosine of the two texts, 0 to 1.")


class RememberRequest(WriteRequest):
    content: str = Field(description="What to remember, as Markdown.")
    title: str | None = Field(default=None, description="Short title; made from the content if left out.")
    type: MemoryType = MemoryType.NOTE
    tags: list[str] = Field(default_factory=list, max_length=50)
    importance: Importance | None = Field(default=None, description="1 to 10, or low, medium, high.")
    project: str | None = Field(default=None, max_length=MAX_PROJECT_CHARACTERS)
    critical: bool = Field(default=False, description="Always recalled at the start of a session.")
    occurred_at: str | None = Field(default=None, description="ISO date or time of what is remembered; naive = local.")
    source: dict[str, str] | str | None = Field(default=None, description="Where it comes from, e.g. a URL.")

    @field_validator("source")
    @classmethod
    def _short(cls, value: dict[str, str] | str | None) -> dict[str, str] | str | None:
        keys = len(value) if isinstance(value, dict) else 0
        if keys > MAX_SOURCE_KEYS or len(json.dumps(value, ensure_ascii=False).encode()) > MAX_SOURCE_BYTES:
            raise ValueError(
                f"holds more than {MAX_SOURCE_KEYS} members or {MAX_SOURCE_BYTES // 1024} KB; a source is a name or "
                "an address"
            )
        return value


class Remembered(Answer):
    """`existing`: the same memory was already there and this is it. `similar` names near-duplicates, which
    were kept apart. `job` is the background work on it."""

    id: str
    title: str
    path: str
    url: str
    version: str
    job: str | None
    existing: bool = False
    similar: list[SimilarMemory] = Field(default_factory=list)


class MemoryRequest(SpaceRequest):
    id: str = Field(description="The memory's id.")


class MemoryFields(Request):
    """What may be changed of a memory; a property set to null is removed."""

    title: str | None = None
    text: str | None = None
    type: MemoryType | None = None
    tags: list[str] | None = None
    importance: Importance | None = None
    project: str | None = Field(default=None, max_length=MAX_PROJECT_CHARACTERS)
    critical: bool | None = None
    properties: dict[str, Any] | None = None

    @field_validator("properties")
    @classmethod
    def _storable(cls, value: dict[str, Any] | None) -> dict[str, Any] | None:
        try:
            size = len(json.dumps(value, ensure_ascii=False, allow_nan=False, default=str).encode())
        except (ValueError, RecursionError) as error:
            raise ValueError("holds what a note cannot: NaN, infinity, half a character, or endless nesting") from error
        if size > MAX_PROPERTIES_BYTES or len(value or ()) > MAX_PROPERTIES or _depth(value) > MAX_PROPERTY_DEPTH:
            raise ValueError(
                f"holds more than front matter bears: at most {MAX_PROPERTIES} properties, "
                f"{MAX_PROPERTIES_BYTES // 1024} KB and {MAX_PROPERTY_DEPTH} levels; put long text into the note"
            )
        return value


class UpdateRequest(WriteRequest):
    id: str
    fields: MemoryFields
    version: str | None = Field(default=None, description="The version you read; refused if it changed since.")


class ForgetRequest(WriteRequest):
    id: str
    version: str | None = None


class Forgotten(Answer):
    id: str
    title: str
    path: str
    trash: str = Field(description="Where the note waits for 30 days, inside the vault.")


class ListRequest(SpaceRequest):
    folder: str | None = None
    tag: str | None = None
    type: MemoryType | None = None
    page: str | None = Field(default=None, description="The cursor `next` of the page before.")
    limit: int = Field(default=50, ge=1, le=200)


class IndexLine(Answer):
    id: str
    title: str
    path: str
    url: str
    type: MemoryType
    date: str | None
    importance: int
    summary: str
    tags: list[str]


class TagLine(Answer):
    tag: str
    count: int
    description: str


class TagsRequest(SpaceRequest):
    prefix: str | None = None
    page: str | None = None
    limit: int = Field(default=200, ge=1, le=1000)


# --- recall -----------------------------------------------------------------------------------------------


class RecallRequest(SpaceRequest):
    query: str = Field(max_length=MAX_QUERY_CHARACTERS, description="The question, in natural language.")
    limit: int = Field(default=8, ge=1, le=50)
    budget: int = Field(default=2000, ge=50, le=10_000, description="Tokens of context to assemble.")
    types: list[MemoryType] = Field(default_factory=list, max_length=50)
    tags: list[str] = Field(
        default_factory=list, max_length=50, description="All of these; a parent tag covers its children."
    )
    project: str | None = None
    session: str | None = None
    role: str | None = Field(default=None, description="Only episodes spoken by this role.")
    outcome: Outcome | None = None
    min_importance: int | None = Field(default=None, ge=1, le=10)
    since: str | None = Field(default=None, description="ISO date or time, inclusive; naive = local.")
    until: str | None = Field(default=None, description="ISO date or time, inclusive; a date covers its whole day.")
    as_of: str | None = Field(default=None, description="What was true on that day.")
    mode: Mode = Mode.HYBRID
    expand: bool = Field(default=True, description="Also bring memories linked to good hits.")
    floor: Literal["auto", "off"] = Field(default="auto", description="auto: nothing relevant gives an empty answer.")


class SignalsView(Answer):
    keyword: int | None
    meaning: int | None
    graph: int | None


class HitView(Answer):
    id: str
    space: str
    title: str
    path: str
    url: str
    type: MemoryType
    date: str | None
    summary: str
    text: str
    lines: list[int]
    score: float
    signals: SignalsView
    refs: list[str]
    reason: str


class Recalled(Answer):
    """`context` is ready for a prompt; `degraded` names layers that could not take part; `silence` says why
    there is no hit."""

    query: str
    route: Route
    context: str
    degraded: list[str]
    took_ms: float
    hits: list[HitView]
    silence: str | None = None


class SearchRequest(SpaceRequest):
    query: str = Field(max_length=MAX_QUERY_CHARACTERS)
    limit: int = Field(default=10, ge=1, le=50)


class SearchResult(Answer):
    id: str
    title: str
    url: str


class SearchResults(Answer):
    results: list[SearchResult]


class FetchRequest(SpaceRequest):
    id: str
    offset: int = Field(default=0, ge=0, description="First character of the text to return.")


class Fetched(Answer):
    """`metadata` holds path, type, date, tags, summary, version, and `next_offset` where text remains."""

    id: str
    title: str
    text: str
    url: str
    metadata: dict[str, Any]


class RelatedRequest(SpaceRequest):
    id: str
    depth: int = Field(default=1, ge=1, le=4)
    types: list[RelationType] = Field(default_factory=list, max_length=50)


class RelatedNode(Answer):
    id: str
    title: str
    path: str
    url: str
    type: MemoryType
    summary: str
    distance: int


class RelatedEdge(Answer):
    source: str
    target: str
    type: RelationType


class Related(Answer):
    nodes: list[RelatedNode]
    edges: list[RelatedEdge]
    degraded: list[str] = Field(default_factory=list)


# --- episodes and captures --------------------------------------------------------------------------------


class EpisodeEntry(Request):
    role: str = Field(min_length=1, max_length=100, description="Who speaks: user, assistant, a name.")
    content: str = Field(min_length=1)
    occurred_at: str | None = None
    topics: list[str] = Field(default_factory=list, max_length=50)
    outcome: Outcome | None = None
    importance: Importance | None = None
    ref: str | None = Field(default=None, max_length=200, description="Your own id of this turn.")


class EpisodesRequest(WriteRequest):
    session: str = Field(min_length=1, max_length=200, description="Name of the session; the same name continues it.")
    entries: list[EpisodeEntry] = Field(min_length=1, max_length=1000)
    project: str | None = Field(default=None, max_length=MAX_PROJECT_CHARACTERS)


class EpisodesLogged(Answer):
    """`ids` are the entries' block ids, in order; an entry whose `ref` is already in the session keeps its
    first id and is not written again."""

    session: str
    memory: str = Field(description="The id of the session's note.")
    ids: list[str]
    paths: list[str]
    existing: int = 0


class CaptureRequest(WriteRequest):
    text: str = Field(min_length=1)
    topics: list[str] = Field(default_factory=list, max_length=50)
    occurred_at: str | None = None


class Captured(Answer):
    memory: str = Field(description="The id of the day's note.")
    ids: list[str]
    paths: list[str]
    existing: int = Field(default=0, description="How many of `ids` stood there before this call.")


# --- work and health --------------------------------------------------------------------------------------


class JobRequest(SpaceRequest):
    id: str


class JobsRequest(SpaceRequest):
    state: list[JobState] = Field(default_factory=list, max_length=50)
    page: str | None = None
    limit: int = Field(default=50, ge=1, le=200)


class JobView(Answer):
    id: str
    kind: str
    space: str
    memory: str | None
    state: JobState
    reason: WaitingReason | None
    attempts: int
    error: str | None
    created: str
    changed: str


class LayerState(Answer):
    state: Literal["ok", "degraded", "down", "off"]
    detail: str = ""


class Indexing(Answer):
    active: bool
    done: int
    total: int


class ProblemView(Answer):
    path: str
    line: int | None
    what: str
    remedy: str


class StatusRequest(SpaceRequest):
    pass


class Status(Answer):
    """Health of every layer. `problems` lists notes that need the person; at most 100 of them."""

    version: str
    space: str
    layers: dict[str, LayerState]
    indexing: Indexing
    warnings: list[str]
    problems: list[ProblemView] = Field(default_factory=list)
    ready: bool = Field(description="Can do its job: remember and recall, whole or degraded.")


class Stats(Answer):
    space: str
    memories: int
    passages: int
    relations: int
    tags: int
    types: dict[str, int]
    mean_importance: float | None
    unresolved_links: int
    pending_vectors: int
    jobs: dict[str, int]


class SpacesRequest(Request):
    pass


class NewSpaceRequest(Request):
    name: str = Field(pattern=r"^[a-z0-9-]{1,40}$", description="Lower-case letters, digits and hyphens.")
    vault: str | None = Field(default=None, description="An existing vault to adopt; null makes a new one.")


class SpaceView(Answer):
    name: str
    vault: str
    kind: Literal["ours", "adopted", "unknown"]
    mounted: bool


# --- tokens (administration) ------------------------------------------------------------------------------


class NewTokenRequest(Request):
    name: str = Field(min_length=1, max_length=80)
    scopes: list[Literal["read", "write", "vault", "admin"]] = ["read", "write"]
    spaces: list[str] = Field(default_factory=list, description="Empty means every space.")


class NewToken(Answer):
    """The only time the secret is shown. `warning` says what the first token changes."""

    id: str
    name: str
    token: str
    scopes: list[str]
    spaces: list[str]
    warning: str | None = None


class TokensRequest(Request):
    pass


class TokenView(Answer):
    id: str
    name: str
    scopes: list[str]
    spaces: list[str]
    created: str
    last_used: str | None


class RevokeRequest(Request):
    id: str = Field(description="Id or name of the token.")


class Revoked(Answer):
    id: str
    name: str
    warning: str | None = None
