"""The long-lived commands: serve (HTTP) and mcp (stdio)."""

import json
import os
import socket
import sys
from threading import Event, Thread
from typing import TYPE_CHECKING, Annotated

import typer

from hearthmind.cli.joined import Json, ask_in, join, settings_with_warnings

if TYPE_CHECKING:
    from hearthmind.house.contract import Status
    from hearthmind.house.host import HouseClient
    from hearthmind.settings import Settings

POLL_SECONDS = 0.5


def serve(
    host: Annotated[str | None, typer.Option(help="Address to listen on; else HEARTHMIND_HOST.")] = None,
    port: Annotated[int | None, typer.Option(help="Port to listen on, 0 for any; else HEARTHMIND_PORT.")] = None,
    as_json: Json = False,
) -> None:
    """Serve the memory to clients over HTTP, in the foreground."""
    given = {"host": host, "port": port}
    settings = settings_with_warnings(**{name: value for name, value in given.items() if value is not None})
    if settings.port == 0:
        settings = settings.model_copy(update={"port": _free_port(settings.host)})
    from hearthmind import bootstrap
    from hearthmind.gateway.app import build_app
    from hearthmind.gateway.serve import check_binding, serve_app

    store = bootstrap.open_store(settings)
    house = join(settings, long_lived=True)
    ended = Event()

    def started(_host: str, _port: int) -> None:
        print(json.dumps(greeting, ensure_ascii=False) if as_json else _words(greeting, bool(store.tokens())))
        sys.stdout.flush()
        if not as_json:
            Thread(target=_show_indexing, args=(house, ended), daemon=True, name="progress").start()

    try:
        check_binding(settings, store)
        greeting = _greeting(house, settings)  # opens the house, before the port is open
        serve_app(build_app(house, store, settings), settings, store, started=started)
    finally:
        ended.set()
        house.close()
        store.close()


def mcp() -> None:
    """Speak MCP on stdin and stdout, for clients that start their servers themselves."""
    settings = settings_with_warnings()
    from hearthmind.gateway.mcp.server import run_stdio

    house = join(settings, long_lived=True)
    try:
        run_stdio(house, settings)
    except (KeyboardInterrupt, SystemExit):
        house.close()
        os._exit(0)  # a thread still waits for stdin, and would be waited for
    finally:
        house.close()


def _free_port(host: str) -> int:
    """Chosen before the house opens: the port is part of every memory's address."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.create_server((host, 0), family=family) as probe:
        return int(probe.getsockname()[1])


def _status(house: "HouseClient") -> "Status":
    from hearthmind.house.contract import StatusRequest
    from hearthmind.house.operations import STATUS

    return ask_in(house, STATUS, StatusRequest(space="home"))


def _greeting(house: "HouseClient", settings: "Settings") -> dict[str, object]:
    """Raises HearthmindError only where nothing could be served; an unmounted vault is a warning."""
    from hearthmind.errors import HearthmindError, HostUnavailable
    from hearthmind.house.contract import SpacesRequest
    from hearthmind.house.operations import SPACES

    warnings: list[str] = []
    embedder = "unknown"
    try:
        status = _status(house)
        warnings += status.warnings
        embedder = status.layers["embedder"].detail if "embedder" in status.layers else embedder
    except HostUnavailable:
        raise
    except HearthmindError as error:
        warnings.append(error.message)
    spaces = ask_in(house, SPACES, SpacesRequest()).items
    return {
        "url": settings.base_url,
        "listening": f"{settings.host}:{settings.port}",
        "data": str(settings.data),
        "vaults": {space.name: space.vault for space in spaces},
        "embedder": embedder,
        "hosting": house.hosting,
        "warnings": warnings,
    }


def _words(greeting: dict[str, object], tokens: bool) -> str:
    url, vaults, warnings = greeting["url"], greeting["vaults"], greeting["warnings"]
    assert isinstance(vaults, dict)
    assert isinstance(warnings, list)
    more = "`hearthmind connect <client>` prints the lines for others and mints tokens."
    header = ' --header "Authorization: Bearer <token>"' if tokens else ""
    return "\n".join(
        [
            f"Hearthmind serves {url}  (listening on {greeting['listening']})",
            f"  data      {greeting['data']}",
            *(f"  vault     {vault}  ({name})" for name, vault in vaults.items()),
            f"  embedder  {greeting['embedder']}",
            *([] if greeting["hosting"] else ["  host      another Hearthmind process, which this one uses"]),
            "Connect a client:",
            f"  Claude Code     claude mcp add --transport http --scope user hearthmind {url}/mcp{header}",
            f"  any MCP client  {url}/mcp  (Streamable HTTP{', bearer token' if tokens else ''})",
            f"  {more}",
            *(f"warning: {warning}" for warning in warnings),
            "Ctrl-C ends it.",
        ]
    )


def _show_indexing(house: "HouseClient", ended: Event) -> None:
    """A progress bar on a terminal, else a line at the end, while the first index is built."""
    from hearthmind.errors import HearthmindError

    try:
        status = _status(house)
        if not status.indexing.active:
            return
        if sys.stdout.isatty():
            _draw_indexing(house, status, ended)
            return
        print(f"Indexing {status.indexing.total} notes; serving meanwhile.", flush=True)
        while status.indexing.active and not ended.wait(POLL_SECONDS):
            status = _status(house)
        if not status.indexing.active:
            print(f"Indexed {status.indexing.done} notes.", flush=True)
    except HearthmindError:
        return  # the house is ending, or status names the trouble


def _draw_indexing(house: "HouseClient", status: "Status", ended: Event) -> None:
    from rich.progress import Progress

    with Progress(transient=False) as progress:
        task = progress.add_task("Indexing", total=None)
        while not ended.wait(POLL_SECONDS):
            now = status.indexing
            progress.update(task, completed=now.done, total=now.total or None)
            if not now.active:
                return
            status = _status(house)
