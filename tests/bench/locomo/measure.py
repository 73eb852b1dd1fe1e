"""LoCoMo by the protocol of the evaluation data's README: recall of evidence turns, no language model.

Run: python -m tests.bench.locomo.measure
"""

import json
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from hearthmind.house.contract import EpisodeEntry, EpisodesRequest, NewSpaceRequest, RecallRequest
from hearthmind.house.local import LocalHouse
from hearthmind.house.operations import ADD_SPACE, LOG_EPISODES, RECALL
from hearthmind.model import Mode
from hearthmind.model.house import OWNER
from tests.bench.shared import measured_house, shared_data, wait_until_indexed

CUTS = (1, 5, 10, 20)


@dataclass(frozen=True)
class Figures:
    """Means over questions: recall of evidence among the first k turns, evidence session in the first five."""

    at: Mapping[int, float]
    session_at_5: float
    questions: int

    def __str__(self) -> str:
        cuts = " ".join(f"R@{cut} {value:.3f}" for cut, value in self.at.items())
        return f"{cuts} session@5 {self.session_at_5:.3f} (n={self.questions})"


def load(data: Path) -> Any:
    return json.loads((data / "locomo" / "locomo-dev.json").read_text(encoding="utf-8"))


def log_conversation(house: LocalHouse, sample: Mapping[str, Any]) -> str:
    """One fresh space per conversation; each turn is an episode. Returns the space."""
    space = sample["sample_id"].lower().replace("_", "-")
    house.do(ADD_SPACE, OWNER, NewSpaceRequest(name=space))
    for session in sample["sessions"]:
        at = datetime.strptime(session["date_time"], "%I:%M %p on %d %B, %Y")  # noqa: DTZ007 - naive is local
        entries = [
            EpisodeEntry(
                role=turn["speaker"],
                content=turn["text"] + (f" [image: {turn['image_caption']}]" if turn.get("image_caption") else ""),
                occurred_at=at.isoformat(),
                ref=turn["id"],
            )
            for turn in session["turns"]
        ]
        name = f"{sample['sample_id']}/{session['session']}"
        house.do(LOG_EPISODES, OWNER, EpisodesRequest(space=space, session=name, entries=entries))
    wait_until_indexed(house, space)
    return space


def ask(house: LocalHouse, space: str, question: str, mode: Mode = Mode.HYBRID) -> Sequence[str]:
    """The ranking of turns: refs over the hits, first occurrence."""
    request = RecallRequest(space=space, query=question, limit=20, floor="off", mode=mode)
    hits = house.do(RECALL, OWNER, request).hits
    return list(dict.fromkeys(ref for hit in hits for ref in hit.refs))


def measure(
    house: LocalHouse,
    samples: Sequence[Mapping[str, Any]],
    mode: Mode = Mode.HYBRID,
    asked: Callable[[Mapping[str, Any], Sequence[str]], None] | None = None,
) -> tuple[Figures, Mapping[int, Figures]]:
    """Figures over all questions of category 1-4 with evidence, and by category."""
    rows: list[tuple[int, dict[int, float], float]] = []
    for sample in samples:
        space = sample["sample_id"].lower().replace("_", "-")
        session_of = {turn["id"]: one["session"] for one in sample["sessions"] for turn in one["turns"]}
        for question in sample["questions"]:
            if question["category"] not in (1, 2, 3, 4) or not question["evidence"]:
                continue
            ranking = ask(house, space, question["question"], mode)
            evidence = set(question["evidence"])
            at = {cut: len(evidence & set(ranking[:cut])) / len(evidence) for cut in CUTS}
            sessions = list(dict.fromkeys(session_of[ref] for ref in ranking))[:5]
            hit = any(session_of.get(ref) in sessions for ref in evidence)
            rows.append((question["category"], at, float(hit)))
            if asked:
                asked(question, ranking)
    by_category: dict[int, list[tuple[dict[int, float], float]]] = defaultdict(list)
    for category, at, hit in rows:
        by_category[category].append((at, hit))
    return _mean([(at, hit) for _, at, hit in rows]), {
        category: _mean(part) for category, part in sorted(by_category.items())
    }


def _mean(rows: Sequence[tuple[dict[int, float], float]]) -> Figures:
    count = max(1, len(rows))
    return Figures(
        {cut: sum(at[cut] for at, _ in rows) / count for cut in CUTS}, sum(hit for _, hit in rows) / count, len(rows)
    )


def main() -> None:
    data = shared_data()
    if data is None:
        print("SKIPPED: LoCoMo is not at hand (set HEARTHMIND_TEST_SHARED)")
        return
    samples = load(data)
    with measured_house() as house:
        for sample in samples:
            log_conversation(house, sample)
        for mode in Mode:
            overall, by_category = measure(house, samples, mode)
            print(f"{mode.value:8} {overall}")
            for category, figures in by_category.items():
                print(f"  category {category}: {figures}")


if __name__ == "__main__":
    main()
