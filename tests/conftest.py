"""Fixtures that every kind of test may use."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.home import Home


@pytest.fixture
def home(tmp_path: Path) -> Iterator["Home"]:
    from tests.home import Home

    made = Home(tmp_path / "data")
    yield made
    made.house.close()


@pytest.fixture
def make_home(tmp_path: Path) -> Iterator[Callable[..., "Home"]]:
    """A house with other settings, or on a vault that is there already."""
    from tests.home import Home

    made: list[Home] = []

    def make(vault: Path | None = None, **settings: Any) -> "Home":
        one = Home(tmp_path / f"data{len(made)}", vault, **settings)
        made.append(one)
        return one

    yield make
    for one in made:
        one.house.close()
