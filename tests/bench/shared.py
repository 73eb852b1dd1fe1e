"""Where the evaluation data lies, and a house to measure in."""

import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from hearthmind.bootstrap import Overrides, open_house
from hearthmind.house.contract import StatusRequest
from hearthmind.house.local import LocalHouse
from hearthmind.house.operations import STATS, STATUS
from hearthmind.model.house import OWNER
from hearthmind.ports import Embedder
from hearthmind.settings import Settings


def shared_data() -> Path | None:
    """The folder of evaluation data, None where it is not at hand."""
    named = os.environ.get("HEARTHMIND_TEST_SHARED")
    root = Path(named) if named else Path(__file__).parents[3] / "shared"
    return root / "data" if (root / "data").is_dir() else None


@contextmanager
def measured_house(
    vault: Path | None = None, data: Path | None = None, embedder: Embedder | None = None
) -> Iterator[LocalHouse]:
    """A house of its own in a temporary folder, with the packaged embedder unless another is given."""
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings(data=data or Path(folder), vault=vault, embedder="packaged", timezone="UTC")
        house = open_house(settings, Overrides(environ={}, embedder=embedder))
        try:
            yield house
        finally:
            house.close()


def wait_until_indexed(house: LocalHouse, space: str | None = None, seconds: float = 600) -> None:
    """Until the vault is compared and every passage has its vector. Raises TimeoutError."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        status = house.do(STATUS, OWNER, StatusRequest(space=space))
        if not status.indexing.active and not house.do(STATS, OWNER, StatusRequest(space=space)).pending_vectors:
            return
        time.sleep(0.5)  # asking costs a few milliseconds of the very cores that index
    raise TimeoutError("the index was not complete in time")
