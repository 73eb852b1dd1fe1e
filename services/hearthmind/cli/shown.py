"""How answers appear: the exact JSON, or lines for a person."""

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import typer

if TYPE_CHECKING:
    from pydantic import BaseModel

Ans = TypeVar("Ans", bound="BaseModel")


def give(answer: Ans, as_json: bool, show: Callable[[Ans], None]) -> None:
    """Print an answer on stdout."""
    if as_json:
        print(answer.model_dump_json(indent=2 if sys.stdout.isatty() else None))
    else:
        show(answer)


def note(text: str) -> None:
    """Something beside the answer; stdout stays for the answer."""
    print(text, file=sys.stderr)


def table(columns: Sequence[str], rows: Sequence[Sequence[object]], empty: str) -> None:
    """A table on a terminal, tab-separated lines elsewhere."""
    if not rows:
        note(empty)
    elif sys.stdout.isatty():
        from rich.console import Console
        from rich.table import Table
        from rich.text import Text

        drawn = Table(*columns, box=None, header_style="bold")
        for row in rows:
            drawn.add_row(*(Text("" if cell is None else str(cell)) for cell in row))
        Console().print(drawn)
    else:
        for row in rows:
            print("\t".join("" if cell is None else " ".join(str(cell).split()) for cell in row))


def more(cursor: str | None, shown: int, total: int) -> None:
    """Say how to get the next page."""
    if cursor:
        note(f"{shown} of {total}; the next: --page {cursor}")


def given_text(text: str | None, file: Path | None) -> str:
    """The text of a command: its argument, a file, or stdin for `-`."""
    if file is not None and text is not None:
        raise typer.BadParameter("give the text or --file, not both")
    if file is not None:
        return _read(file)
    if text is None:
        raise typer.BadParameter("give the text, - for stdin, or --file")
    return decoded(sys.stdin.buffer.read(), "stdin") if text == "-" else text


def decoded(data: bytes, where: str) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise typer.BadParameter(f"{where} is not UTF-8 text: {error.reason} at byte {error.start}") from error


def _read(file: Path) -> str:
    try:
        return decoded(file.read_bytes(), str(file))
    except OSError as error:
        raise typer.BadParameter(f"cannot read {file}: {error.strerror}") from error
