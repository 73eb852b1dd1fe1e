"""The command line. Commands import what they need when they run, so that `hearthmind --help` is quick."""

import signal
import sys
from types import FrameType
from typing import NoReturn

DONE, FAILED, USAGE = 0, 1, 2


def main() -> NoReturn:
    """Run one command. Exit codes: 0 done, 1 failed, 2 usage."""
    signal.signal(signal.SIGTERM, _terminated)
    from hearthmind.cli.app import app
    from hearthmind.errors import HearthmindError

    try:
        app()
    except HearthmindError as error:
        print(error.message, file=sys.stderr)
        sys.exit(FAILED)
    sys.exit(DONE)


def _terminated(_signal: int, _frame: FrameType | None) -> None:
    raise SystemExit(128 + signal.SIGTERM)
