"""Who may do what: tokens, the anonymous owner, scopes and spaces."""

import hashlib
import hmac
import ipaddress
import secrets
from collections.abc import Collection, Sequence
from datetime import UTC, datetime
from typing import Any

from ulid import ULID

from hearthmind.errors import InvalidInput, NameTaken, NotAllowed, SpaceNotFound, TokenNotFound
from hearthmind.house import contract as c
from hearthmind.house.operations import Operation
from hearthmind.model.house import Caller, Scope, Token
from hearthmind.ports import HouseStore
from hearthmind.settings import Settings
from hearthmind.telemetry import get_logger

TOKEN_PREFIX = "hm_"
TOKEN_BYTES = 32
MAX_BEARER_CHARACTERS = 512

ANONYMOUS_OWNER = Caller("owner", frozenset(Scope), None)
"""Whoever asks from this machine while no token exists."""

FORWARDING_HEADERS = frozenset(
    {
        "forwarded",
        "via",
        "x-real-ip",
        "x-client-ip",
        "x-cluster-client-ip",
        "x-envoy-external-address",
        "true-client-ip",
        "fastly-client-ip",
        "cdn-loop",
    }
)
FORWARDING_PREFIXES = (
    "x-forwarded",
    "x-original-",
    "cf-",
    "tailscale-",
    "ngrok-",
    "x-ngrok-",
    "fly-",
    "x-envoy-",
    "x-azure-",
)
"""A proxy or tunnel marks what it passes on with one of these; its own peer address is often loopback."""

log = get_logger(__name__)


def mint_token() -> str:
    """A new secret: `hm_` and 32 random bytes."""
    return TOKEN_PREFIX + secrets.token_urlsafe(TOKEN_BYTES)


def token_hash(secret: str) -> str:
    """What is stored of a secret. Plain SHA-256 suffices: the secret has 256 random bits."""
    return hashlib.sha256(secret.encode("utf-8", "surrogateescape")).hexdigest()


def caller_of(bearer: str, house_store: HouseStore) -> Caller | None:
    """The caller behind a bearer token, None if nobody. The look-up is by hash, so its timing tells nothing
    about any secret. A failure to record the use does not lock the caller out."""
    if not bearer or len(bearer) > MAX_BEARER_CHARACTERS:
        return None
    digest = token_hash(bearer)
    token = house_store.token_by_hash(digest)
    if token is None or not hmac.compare_digest(token.hash, digest):
        return None
    try:
        house_store.token_used(token.id, datetime.now(UTC))
    except Exception as error:  # noqa: BLE001 - a full disk must not make every token invalid
        log.warning("token use not recorded", token=token.name, error=str(error))
    return Caller(token.name, token.scopes, token.spaces or None)


def anonymous_owner(
    settings: Settings, house_store: HouseStore, peer: str | None, host: str | None, headers: Collection[str]
) -> Caller | None:
    """The owner without a token: only while no token exists, with peer and Host loopback, no forwarding
    header (`headers` are their names) and HEARTHMIND_PUBLIC_URL unset. None otherwise."""
    if settings.public_url or not is_loopback(peer) or not is_loopback(host_name(host)):
        return None
    if any(forwarded(name) for name in headers) or house_store.tokens():
        return None
    return ANONYMOUS_OWNER


def forwarded(header: str) -> bool:
    """Whether a header's presence says that someone passed the request on."""
    name = header.lower()
    return name in FORWARDING_HEADERS or name.startswith(FORWARDING_PREFIXES)


def host_name(host: str | None) -> str | None:
    """The name in a Host header: lower case, without port, brackets and trailing dot; None if malformed."""
    if not host:
        return None
    name = host.strip().lower()
    if name.startswith("["):
        inside, closed, rest = name[1:].partition("]")
        return inside if closed and (not rest or (rest[0] == ":" and rest[1:].isdigit())) else None
    name, colon, port = name.partition(":")
    if colon and not port.isdigit():
        return None
    return name.rstrip(".") or None


def is_loopback(name: str | None) -> bool:
    """Whether an address or name can only mean this machine."""
    if not name:
        return False
    if name == "localhost":
        return True
    try:
        address = ipaddress.ip_address(name)
    except ValueError:
        return False
    mapped = getattr(address, "ipv4_mapped", None)
    return (mapped or address).is_loopback


def authorise(operation: Operation[Any, Any], caller: Caller) -> None:
    """Raises NotAllowed naming the scope that is missing."""
    if not caller.may(operation.scope):
        raise NotAllowed(
            f"{operation.name} needs the scope {operation.scope.value!r}; {caller.name!r} has "
            f"{', '.join(sorted(caller.scopes)) or 'none'}. Create a token that has it with `hearthmind token create`.",
            scope=operation.scope.value,
        )


def space_of(caller: Caller, requested: str | None, known_spaces: Sequence[str], default: str) -> str:
    """The space a request is about: the one it names, else the default, else the only one within reach.

    A space that does not exist and one out of reach get the same words, so that existence does not leak.
    """
    reachable = [name for name in known_spaces if caller.reaches(name)]
    if requested is not None:
        if requested in reachable:
            return requested
        raise SpaceNotFound(f"there is no space {requested[:60]!r} for you{_choice(reachable)}")
    if default in reachable:
        return default
    if len(reachable) == 1:
        return reachable[0]
    if reachable:
        raise InvalidInput(f"say which space{_choice(reachable)}", field="space")
    raise SpaceNotFound("there is no space for you")


def _choice(reachable: Sequence[str]) -> str:
    return f"; spaces: {', '.join(reachable)}" if reachable else ""


# --- the handlers of tokens, add_token, revoke_token -------------------------------------------------------


def list_tokens(store: HouseStore, _: c.TokensRequest) -> c.Listing[c.TokenView]:
    tokens = sorted(store.tokens(), key=lambda token: (token.created, token.id))
    return c.Listing[c.TokenView](items=[_view(token) for token in tokens], next=None, total=len(tokens))


def add_token(store: HouseStore, request: c.NewTokenRequest) -> c.NewToken:
    """Mint and store a token. Raises NameTaken, SpaceNotFound, InvalidInput."""
    tokens = store.tokens()
    if any(token.name == request.name for token in tokens):
        raise NameTaken(f"a token named {request.name!r} exists; revoke it or choose another name")
    scopes = frozenset(Scope(value) for value in request.scopes)
    if not scopes:
        raise InvalidInput("a token needs at least one of the scopes read, write, vault, admin", field="scopes")
    if Scope.ADMIN in scopes and request.spaces:
        # An admin makes tokens, so a bound one could mint itself an unbound one.
        raise InvalidInput("the scope admin covers the whole house; it cannot be bound to spaces", field="spaces")
    _refuse_unknown(request.spaces, [record.name for record in store.spaces()])
    secret = mint_token()
    spaces = tuple(dict.fromkeys(request.spaces))
    token = Token(str(ULID()), request.name, token_hash(secret), scopes, spaces, datetime.now(UTC))
    store.add_token(token)
    return c.NewToken(
        id=token.id,
        name=token.name,
        token=secret,
        scopes=sorted(scopes),
        spaces=list(spaces),
        warning=None if tokens else FIRST_TOKEN,
    )


def revoke_token(store: HouseStore, request: c.RevokeRequest) -> c.Revoked:
    """Revoke by id or name. Raises TokenNotFound."""
    tokens = store.tokens()
    token = next((each for each in tokens if request.id in (each.id, each.name)), None)
    if token is None or not store.revoke_token(token.id):
        raise TokenNotFound(f"no token has the id or name {request.id[:80]!r}; see `hearthmind token list`")
    return c.Revoked(id=token.id, name=token.name, warning=LAST_TOKEN if len(tokens) == 1 else None)


FIRST_TOKEN = (
    "This is the first token, so the anonymous owner ends now: clients on this machine that send no token "
    "will be refused. Give each of them a token with `hearthmind connect <client>`."
)
LAST_TOKEN = (
    "No token is left, so the anonymous owner is back: anyone on this machine may read and write without a "
    "token (not while HEARTHMIND_PUBLIC_URL is set)."
)


def _refuse_unknown(spaces: Sequence[str], known: Sequence[str]) -> None:
    for name in spaces:
        if name not in known:
            raise SpaceNotFound(f"there is no space {name[:60]!r}; spaces: {', '.join(known) or 'none'}")


def _view(token: Token) -> c.TokenView:
    return c.TokenView(
        id=token.id,
        name=token.name,
        scopes=sorted(token.scopes),
        spaces=list(token.spaces),
        created=token.created.isoformat(),
        last_used=token.last_used.isoformat() if token.last_used else None,
    )
