"""Where the command line meets the house. Nothing heavy is imported before a command needs it."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

if TYPE_CHECKING:
    from pydantic import BaseModel

    from hearthmind.house.host import HouseClient
    from hearthmind.house.host import LocalHouse as Hosted
    from hearthmind.house.operations import Operation
    from hearthmind.settings import Settings

Ans = TypeVar("Ans", bound="BaseModel")
Req = TypeVar("Req", bound="BaseModel")

Space = Annotated[str | None, typer.Option("--space", help="Which space; needed only if you have several.")]
Json = Annotated[bool, typer.Option("--json", help="Print the answer as one JSON document.")]


def settings_with_warnings(**overrides: object) -> "Settings":
    """The settings; unknown `HEARTHMIND_` variables are named on stderr."""
    from hearthmind.settings import load_settings, unknown_variables

    for warning in unknown_variables(os.environ):
        print(f"warning: {warning}", file=sys.stderr)
    return load_settings(**overrides)


def join(settings: "Settings", *, long_lived: bool = False) -> "HouseClient":
    """The house of a data folder: as the client of its host, or as the host where there is none.

    A `long_lived` process logs as configured and takes over when the host ends; a short command that has to
    host itself logs errors only, unless HEARTHMIND_LOG_LEVEL says otherwise.
    """
    from hearthmind.house.host import HouseClient

    def open_house() -> "Hosted":
        from hearthmind import bootstrap

        if not long_lived:
            _log_briefly(settings)
        return bootstrap.open_house(settings)

    if not long_lived:
        return HouseClient(settings, open_house)
    from hearthmind import telemetry

    telemetry.configure_logging(settings.log_level, _log_format(settings))
    client = HouseClient(settings, open_house, request_id=telemetry.request_id.get)
    client.keep_hosting()
    return client


@contextmanager
def joined(settings: "Settings") -> Iterator["HouseClient"]:
    """The house for as long as a short command needs it."""
    client = join(settings)
    try:
        yield client
    finally:
        client.close()


def ask(operation: "Operation[Any, Ans]", **values: object) -> Ans:
    """One operation for the person at the machine. Values that are None count as not given; a request that
    cannot be right is a usage error."""
    request = build(operation.request, **values)
    with joined(settings_with_warnings()) as house:
        return ask_in(house, operation, request)


def ask_in(house: "HouseClient", operation: "Operation[Req, Ans]", request: Req) -> Ans:
    """One operation in a house that is joined already."""
    from hearthmind.model.house import OWNER

    return house.do(operation, OWNER, request)


def build(kind: "type[Req]", **values: object) -> Req:
    """A request of `kind`, or a usage error with its reasons."""
    from pydantic import ValidationError

    try:
        return kind(**{name: value for name, value in values.items() if value is not None})
    except ValidationError as error:
        reasons = [f"{'.'.join(map(str, item['loc'])) or 'request'}: {item['msg']}" for item in error.errors()]
        raise typer.BadParameter("; ".join(reasons)) from error


def _log_briefly(settings: "Settings") -> None:
    from hearthmind import telemetry

    level = settings.log_level if "log_level" in settings.model_fields_set else "error"
    telemetry.configure_logging(level, _log_format(settings))


def _log_format(settings: "Settings") -> str:
    """Text for eyes where the log goes to a terminal, unless HEARTHMIND_LOG_FORMAT says otherwise."""
    chosen = "log_format" in settings.model_fields_set or not sys.stderr.isatty()
    return settings.log_format if chosen else "text"
