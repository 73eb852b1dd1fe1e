"""Situations that stop a request, named, each with what to do about it.

Only the edges turn them into HTTP problem documents (RFC 9457), MCP tool errors or exit codes.
"""

from typing import Any, ClassVar


class HearthmindError(Exception):
    """A situation the caller can understand and act on.

    `status` is the HTTP status, `slug` the stable name of the situation, `extra` further members of the
    problem document.
    """

    status: ClassVar[int] = 500
    slug: ClassVar[str] = "internal"

    def __init__(self, message: str, **extra: Any) -> None:
        super().__init__(message)
        self.message = message
        self.extra = extra


class InvalidInput(HearthmindError):
    status = 422
    slug = "invalid-input"


class TooLarge(HearthmindError):
    status = 413
    slug = "too-large"


class NotAuthenticated(HearthmindError):
    status = 401
    slug = "not-authenticated"


class NotAllowed(HearthmindError):
    status = 403
    slug = "not-allowed"


class MemoryNotFound(HearthmindError):
    status = 404
    slug = "memory-not-found"


class JobNotFound(HearthmindError):
    status = 404
    slug = "job-not-found"


class SpaceNotFound(HearthmindError):
    status = 404
    slug = "space-not-found"


class TokenNotFound(HearthmindError):
    status = 404
    slug = "token-not-found"


class NameTaken(HearthmindError):
    status = 409
    slug = "name-taken"


class NoteChangedSinceRead(HearthmindError):
    """Two writers met on one note; `extra["version"]` is the current version."""

    status = 412
    slug = "note-changed-since-read"


class MisdirectedHost(HearthmindError):
    status = 421
    slug = "host-not-allowed"


class NoteUnreadable(HearthmindError):
    """A note whose front matter cannot be edited safely (invalid YAML); the file is left as it is."""

    status = 409
    slug = "note-unreadable"


class PathOutsideVault(HearthmindError):
    status = 422
    slug = "path-outside-vault"


class VaultNotMounted(HearthmindError):
    status = 503
    slug = "vault-not-mounted"


class VaultNotWritable(HearthmindError):
    """Read-only vault, no permission, or another failure of the file system while writing."""

    status = 503
    slug = "vault-not-writable"


class DiskFull(HearthmindError):
    status = 507
    slug = "disk-full"


class StoreUnavailable(HearthmindError):
    """A derived store or a server behind it cannot answer; callers degrade and name it."""

    status = 503
    slug = "store-unavailable"


class EmbedderUnavailable(StoreUnavailable):
    slug = "embedder-unavailable"


class HostUnavailable(HearthmindError):
    """No process serves this data folder and none could be started."""

    status = 503
    slug = "host-unavailable"


class InvalidSetting(HearthmindError):
    status = 500
    slug = "invalid-setting"


def by_slug(slug: str) -> type[HearthmindError]:
    """The class of a situation by its stable name, `HearthmindError` for an unknown one."""
    pending = [HearthmindError]
    while pending:
        kind = pending.pop()
        if kind.slug == slug and kind is not HearthmindError:
            return kind
        pending.extend(kind.__subclasses__())
    return HearthmindError
