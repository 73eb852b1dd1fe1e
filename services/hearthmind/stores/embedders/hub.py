"""The model hub, asked so that nothing it does can hold us up for longer than we said."""

import logging
import os
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

log = logging.getLogger(__name__)

Progress = Callable[[int, int], None]
"""Called about once a second with the bytes that have arrived and all bytes (0 if unknown)."""

STALL_SECONDS = 30.0
LONGEST_SECONDS = 3600.0
_IMPORT_SECONDS = 20.0


class HubUnreachable(Exception):
    """The hub did not answer, does not have the model, or its download stopped."""


def fetch(
    repository: str,
    files: Sequence[str],
    cache: Path,
    *,
    probe_seconds: float,
    stall_seconds: float = STALL_SECONDS,
    progress: Progress | None = None,
) -> Path:
    """Downloads `files` of `repository` to `cache` and returns the snapshot's folder.

    The hub has `probe_seconds` to answer at all; then the download takes as long as bytes keep arriving, at
    least one in `stall_seconds`. Asks where huggingface_hub asks (`HF_ENDPOINT`, `HF_HUB_OFFLINE`, proxies).
    Raises HubUnreachable.
    """
    cache.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-P", str(Path(__file__).with_name("hub_fetch.py"))]
    child = subprocess.Popen(
        [*command, repository, str(cache), str(probe_seconds), *files],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env={**os.environ, "HF_HUB_DISABLE_PROGRESS_BARS": "1", "HF_HUB_DISABLE_TELEMETRY": "1"},
    )
    try:
        said = _lines(child)
        _expect(said, "started", _IMPORT_SECONDS)
        total = int(_expect(said, "reached", probe_seconds) or 0)
        return Path(_watched(said, cache, total, stall_seconds, progress))
    finally:
        child.kill()
        child.wait()


def cached(repository: str, files: Sequence[str], needed: Sequence[str], cache: Path) -> Path | None:
    """The snapshot that `cache` already holds, if it has all `needed` and those `files` that the repository
    has. Never asks the network."""
    if not cache.is_dir():
        return None
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import LocalEntryNotFoundError

    try:
        folder = Path(snapshot_download(repository, cache_dir=cache, allow_patterns=list(files), local_files_only=True))
    except (LocalEntryNotFoundError, OSError, ValueError):
        return None
    return folder if all((folder / each).is_file() for each in needed) else None


def _lines(child: "subprocess.Popen[str]") -> "queue.Queue[str]":
    said: queue.Queue[str] = queue.Queue()

    def read() -> None:
        for line in child.stdout or ():
            said.put(line.strip())
        said.put("failed the download ended without a word")

    threading.Thread(target=read, name="hub-fetch", daemon=True).start()
    return said


def _expect(said: "queue.Queue[str]", word: str, seconds: float) -> str:
    try:
        first, _, rest = said.get(timeout=seconds).partition(" ")
    except queue.Empty:
        raise HubUnreachable(f"no answer within {seconds:g} seconds") from None
    if first != word:
        raise HubUnreachable(rest)
    return rest


def _watched(said: "queue.Queue[str]", cache: Path, total: int, stall_seconds: float, progress: Progress | None) -> str:
    before = _size(cache)
    arrived, last, start = 0, time.monotonic(), time.monotonic()
    while True:
        try:
            return _expect(said, "done", 0.5)
        except HubUnreachable as error:
            if not str(error).startswith("no answer within"):
                raise
        now = _size(cache) - before
        if now != arrived:
            arrived, last = now, time.monotonic()
            if progress:
                progress(arrived, total)
        if time.monotonic() - last > stall_seconds:
            raise HubUnreachable(f"the download stopped at {arrived} of {total} bytes")
        if time.monotonic() - start > LONGEST_SECONDS:
            raise HubUnreachable(f"the download took more than {LONGEST_SECONDS:g} seconds")


def _size(folder: Path) -> int:
    size = 0
    for each in folder.rglob("*"):
        try:
            state = each.lstat()
        except OSError:
            continue
        size += state.st_size
    return size
