"""The environment, read in one place. Every setting is `HEARTHMIND_<NAME>`."""

import difflib
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import platformdirs
import tzlocal
from pydantic import Field, SecretStr, ValidationError, field_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from hearthmind.errors import InvalidSetting

PREFIX = "HEARTHMIND_"
LANGUAGES_BY_CODE = {
    "ar": "arabic",
    "da": "danish",
    "de": "german",
    "el": "greek",
    "en": "english",
    "es": "spanish",
    "fi": "finnish",
    "fr": "french",
    "hu": "hungarian",
    "it": "italian",
    "nl": "dutch",
    "no": "norwegian",
    "pt": "portuguese",
    "ro": "romanian",
    "ru": "russian",
    "sv": "swedish",
    "ta": "tamil",
    "tr": "turkish",
}
"""Languages with a stemmer; every other language works without stemming."""

CommaList = Annotated[tuple[str, ...], NoDecode]


def _default_data() -> Path:
    return Path(platformdirs.user_data_dir("hearthmind", appauthor=False))


class Settings(BaseSettings):
    """Settings with their defaults; nothing needs to be set."""

    model_config = SettingsConfigDict(env_prefix=PREFIX, extra="ignore", frozen=True)

    data: Path = Field(
        default_factory=_default_data,
        description="Folder for everything Hearthmind keeps. Default: the user's data folder.",
    )
    vault: Path | None = Field(
        default=None, description="Your vault, adopted as it is. Default: a new one inside the data folder."
    )
    folder: str | None = Field(
        default=None,
        description="Folder in the vault for new memories. Default: the root; Hearthmind/ in an adopted vault.",
    )
    host: str = Field(default="127.0.0.1", description="Address to listen on; wider than loopback needs a token.")
    port: int = Field(default=8420, ge=0, le=65535, description="Port of the web page, REST and MCP.")
    public_url: str | None = Field(
        default=None, description="The https address under which a proxy or tunnel shows this server."
    )
    allowed_hosts: CommaList = Field(default=(), description="Further host names a request may name, comma-separated.")
    allowed_origins: CommaList = Field(
        default=(), description="Further origins (https://…) whose pages may call this server."
    )
    timezone: str = Field(default="", description="Zone that decides the day, like Europe/Berlin. Default: the host's.")
    languages: CommaList = Field(
        default=("en",), description="Languages of your notes for word stemming, comma-separated, like en,de."
    )
    embedder: str = Field(
        default="auto",
        description=(
            "What turns text into vectors: auto, packaged, fastembed:<model>, onnx:<folder>, "
            "sentence-transformers:<model> or openai:<url>[#model]."
        ),
    )
    embedder_api_key: SecretStr | None = Field(
        default=None, description="Key for an openai: embedder that asks for one."
    )
    hub_seconds: float = Field(
        default=5.0,
        gt=0,
        le=120,
        description="How long `auto` waits at the first start for the model hub to answer.",
    )
    max_content_kb: int = Field(default=1024, ge=1, le=65536, description="Largest content of one memory, in KB.")
    min_free_mb: int = Field(default=500, ge=0, description="Free disk space in MB below which status warns.")
    log_level: Literal["debug", "info", "warning", "error"] = Field(default="info", description="How much is logged.")
    log_format: Literal["json", "text"] = Field(default="json", description="Logs for machines or for eyes.")

    @field_validator("allowed_hosts", "allowed_origins", "languages", mode="before")
    @classmethod
    def _split(cls, value: object) -> object:
        if isinstance(value, str):
            return tuple(part.strip() for part in value.split(",") if part.strip())
        return value

    @field_validator("data", "vault")
    @classmethod
    def _absolute(cls, value: Path | None) -> Path | None:
        return value.expanduser().absolute() if value is not None else None

    @field_validator("languages")
    @classmethod
    def _known_languages(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        codes = tuple(code.lower() for code in value)
        for code in codes:
            if not re.fullmatch(r"[a-z]{2}", code):
                raise ValueError(f"{code!r} is not a language code of two letters, like en or de")
        return codes

    @field_validator("timezone")
    @classmethod
    def _known_zone(cls, value: str) -> str:
        if value:
            try:
                ZoneInfo(value)
            except (ZoneInfoNotFoundError, ValueError, OSError) as error:
                raise ValueError(f"{value!r} is not a time zone; use a name like Europe/Berlin") from error
        return value

    @field_validator("public_url")
    @classmethod
    def _http_url(cls, value: str | None) -> str | None:
        if not value:
            return None
        parts = urlsplit(value)
        if parts.scheme not in {"http", "https"} or not parts.netloc:
            raise ValueError(f"{value!r} is not an address like https://memory.example.org")
        return value.rstrip("/")

    @field_validator("folder")
    @classmethod
    def _relative_folder(cls, value: str | None) -> str | None:
        if value is None:
            return None
        clean = value.strip().removeprefix("./").strip("/")
        clean = "" if clean == "." else clean
        if any(part in {"", ".", ".."} for part in clean.split("/")) and clean:
            raise ValueError(f"{value!r} is not a folder inside the vault")
        return clean

    @property
    def zone(self) -> ZoneInfo:
        """The zone that decides the day; naive times are in it."""
        return ZoneInfo(self.timezone) if self.timezone else _host_zone()

    @property
    def base_url(self) -> str:
        """Where links to this server begin, without a trailing slash."""
        if self.public_url:
            return self.public_url
        host = "127.0.0.1" if self.host in {"0.0.0.0", "::", ""} else self.host
        return f"http://{f'[{host}]' if ':' in host else host}:{self.port}"

    @property
    def state(self) -> Path:
        """Derived state: may be deleted, is rebuilt from the vaults."""
        return self.data / "state"


def _host_zone() -> ZoneInfo:
    try:
        return ZoneInfo(tzlocal.get_localzone_name())
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return ZoneInfo("UTC")


def load_settings(**overrides: object) -> Settings:
    """Settings from the environment; `overrides` win. Raises InvalidSetting naming each bad variable."""
    try:
        return Settings(**overrides)  # type: ignore[arg-type]
    except ValidationError as error:
        lines = [
            f"{PREFIX}{str(item['loc'][0]).upper()}: {item['msg'].removeprefix('Value error, ')}"
            for item in error.errors()
        ]
        raise InvalidSetting("; ".join(lines)) from error


def unknown_variables(environ: Mapping[str, str]) -> list[str]:
    """A warning for each `HEARTHMIND_` variable that is no setting, with the nearest name."""
    known = [PREFIX + name.upper() for name in Settings.model_fields]
    warnings = []
    for name in sorted(environ):
        if name.startswith(PREFIX) and name not in known and not name.startswith(PREFIX + "TEST_"):
            near = difflib.get_close_matches(name, known, n=1, cutoff=0.6)
            hint = f"; did you mean {near[0]}?" if near else ""
            warnings.append(f"unknown setting {name}{hint}")
    return warnings
