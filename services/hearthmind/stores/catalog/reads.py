"""What every group of reads shares: a connection for one statement, and opaque cursors."""

import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from typing import Any

from hearthmind.errors import InvalidInput
from hearthmind.stores.catalog.connections import Connections
from hearthmind.stores.catalog.rows import Row
from hearthmind.stores.catalog.values import clean

CHUNK = 2_000
"""Rows that an iterator fetches at a time, so that no statement stays open while its caller works."""


class Reads:
    def __init__(self, connections: Connections, space: str) -> None:
        self._connections = connections
        self._space = space

    def _rows(self, sql: str, *parameters: str | int | bytes | None) -> list[Row]:
        with self._connections.reading() as connection:
            return connection.execute(sql, parameters).fetchall()

    def _row(self, sql: str, *parameters: str | int | bytes | None) -> Row | None:
        with self._connections.reading() as connection:
            row: Row | None = connection.execute(sql, parameters).fetchone()
            return row

    def _value(self, sql: str, *parameters: str | int | bytes | None) -> Any:
        row = self._row(sql, *parameters)
        return None if row is None else row[0]


def cursor_to(*position: str) -> str:
    """An opaque cursor that stands after the row at this position."""
    return urlsafe_b64encode(json.dumps(position).encode()).decode().rstrip("=")


def position_of(cursor: str, length: int) -> tuple[str, ...]:
    """What `cursor_to` was given. Raises InvalidInput for anything else."""
    try:
        position = json.loads(urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
    except ValueError:
        position = None
    if not isinstance(position, list) or len(position) != length or not all(isinstance(part, str) for part in position):
        raise InvalidInput("This cursor is not one of ours; start again without it.")
    return tuple(clean(part) for part in position)
