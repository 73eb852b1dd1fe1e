"""The table of operations. MCP tools, REST routes, commands and the socket all name one of these, so each
capability exists once, with one scope."""

from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from pydantic import BaseModel

from hearthmind.house import contract as c
from hearthmind.model.house import Caller, Scope

Req = TypeVar("Req", bound=BaseModel)
Ans = TypeVar("Ans", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class Operation(Generic[Req, Ans]):
    """`writes` tells whether a repeated call could have a second effect."""

    name: str
    request: type[Req]
    answer: type[Ans]
    scope: Scope
    writes: bool = False


REMEMBER = Operation("remember", c.RememberRequest, c.Remembered, Scope.WRITE, writes=True)
RECALL = Operation("recall", c.RecallRequest, c.Recalled, Scope.READ)
SEARCH = Operation("search", c.SearchRequest, c.SearchResults, Scope.READ)
FETCH = Operation("fetch", c.FetchRequest, c.Fetched, Scope.READ)
SHOW = Operation("show", c.MemoryRequest, c.MemoryView, Scope.READ)
RELATED = Operation("related", c.RelatedRequest, c.Related, Scope.READ)
LIST_INDEX = Operation("list_index", c.ListRequest, c.Listing[c.IndexLine], Scope.READ)
LIST_TAGS = Operation("list_tags", c.TagsRequest, c.Listing[c.TagLine], Scope.READ)
UPDATE = Operation("update_memory", c.UpdateRequest, c.MemoryView, Scope.WRITE, writes=True)
FORGET = Operation("forget", c.ForgetRequest, c.Forgotten, Scope.WRITE, writes=True)
LOG_EPISODES = Operation("log_episodes", c.EpisodesRequest, c.EpisodesLogged, Scope.WRITE, writes=True)
CAPTURE = Operation("capture", c.CaptureRequest, c.Captured, Scope.WRITE, writes=True)
JOB = Operation("job", c.JobRequest, c.JobView, Scope.READ)
JOBS = Operation("jobs", c.JobsRequest, c.Listing[c.JobView], Scope.READ)
STATUS = Operation("status", c.StatusRequest, c.Status, Scope.READ)
STATS = Operation("stats", c.StatusRequest, c.Stats, Scope.READ)
SPACES = Operation("spaces", c.SpacesRequest, c.Listing[c.SpaceView], Scope.READ)
ADD_SPACE = Operation("add_space", c.NewSpaceRequest, c.SpaceView, Scope.ADMIN, writes=True)
TOKENS = Operation("tokens", c.TokensRequest, c.Listing[c.TokenView], Scope.ADMIN)
ADD_TOKEN = Operation("add_token", c.NewTokenRequest, c.NewToken, Scope.ADMIN, writes=True)
REVOKE_TOKEN = Operation("revoke_token", c.RevokeRequest, c.Revoked, Scope.ADMIN, writes=True)

OPERATIONS = {value.name: value for value in list(globals().values()) if isinstance(value, Operation)}
"""Every operation by its name."""


class House(Protocol):
    """Whoever can carry out operations: the host itself, or a client of its socket."""

    def do(self, operation: Operation[Req, Ans], caller: Caller, request: Req) -> Ans:
        """Carry out one operation. Checks scope and space. Raises HearthmindError."""
