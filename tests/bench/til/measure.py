"""Questions to the til vault: how often the right note is among the first five.

Run: python -m tests.bench.til.measure [til-blind|til-dev]
"""

import json
import shutil
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from hearthmind.house.contract import RecallRequest
from hearthmind.house.local import LocalHouse
from hearthmind.house.operations import RECALL
from hearthmind.model import Mode
from hearthmind.model.house import OWNER
from tests.bench.shared import measured_house, shared_data, wait_until_indexed

QUESTIONS = Path(__file__).parents[1] / "questions"


def questions(name: str) -> list[dict[str, Any]]:
    loaded: list[dict[str, Any]] = json.loads((QUESTIONS / f"{name}.json").read_text(encoding="utf-8"))
    return loaded


def found_in_five(ask: Callable[[str], Sequence[str]], asked: Sequence[dict[str, Any]]) -> list[bool]:
    """For each question whether an acceptable note's path is among the first five paths."""
    return [bool({one["note"], *one["also"]} & set(ask(one["question"])[:5])) for one in asked]


def paths(house: LocalHouse, question: str, mode: Mode) -> list[str]:
    request = RecallRequest(query=question, limit=5, floor="off", mode=mode)
    return [hit.path for hit in house.do(RECALL, OWNER, request).hits]


def main() -> None:
    data = shared_data()
    if data is None:
        print("SKIPPED: the til vault is not at hand (set HEARTHMIND_TEST_SHARED)")
        return
    names = sys.argv[1:] or ["til-dev", "til-blind"]
    with tempfile.TemporaryDirectory() as folder:
        vault = Path(folder) / "til"
        shutil.copytree(data / "vaults" / "til", vault)
        with measured_house(vault) as house:
            wait_until_indexed(house)
            for name in names:
                asked = questions(name)
                for mode in Mode:
                    found = found_in_five(lambda text, mode=mode: paths(house, text, mode), asked)
                    print(f"{name} {mode.value:8} {sum(found)}/{len(found)}")


if __name__ == "__main__":
    main()
