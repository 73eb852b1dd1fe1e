"""Who may do what: callers, tokens, scopes."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class Scope(StrEnum):
    """What a token may do. `vault` allows changing the person's own notes, `admin` includes tokens and
    spaces; none implies another."""

    READ = "read"
    WRITE = "write"
    VAULT = "vault"
    ADMIN = "admin"


@dataclass(frozen=True, slots=True)
class Token:
    """A bearer token as it is stored: never the secret, only its SHA-256.

    `spaces` empty means every space of the house. Times are UTC.
    """

    id: str
    name: str
    hash: str
    scopes: frozenset[Scope]
    spaces: tuple[str, ...]
    created: datetime
    last_used: datetime | None = None


@dataclass(frozen=True, slots=True)
class SpaceRecord:
    """A space as the house knows it. `mark` is the id in the vault's mark once it was seen, `kind` what the
    mark says; None before.
    `vault` None means the folder inside the data folder."""

    name: str
    vault: str | None
    mark: str | None = None
    kind: str | None = None


@dataclass(frozen=True, slots=True)
class Caller:
    """Who asks: the anonymous owner, the command line, or a token.

    `client` names the program (`claude-code`, `cli`), for logs and the source of a memory. `spaces` None
    means all.
    """

    name: str
    scopes: frozenset[Scope]
    spaces: tuple[str, ...] | None = None
    client: str = ""

    def may(self, scope: Scope) -> bool:
        return scope in self.scopes

    def reaches(self, space: str) -> bool:
        return self.spaces is None or space in self.spaces


OWNER = Caller("owner", frozenset(Scope), None, "cli")
"""The person at the machine: command line and owner-only socket."""
