"""The NetworkX graph at the size of a large home, and the same in every process."""

import random
import subprocess
import sys
from pathlib import Path
from time import perf_counter

from hearthmind.model.index import Edge, GraphNode
from hearthmind.model.memory import MemoryType, RelationType
from hearthmind.stores.networkx_graph import NetworkxGraph


def large(nodes: int, edges: int) -> tuple[list[GraphNode], list[Edge]]:
    """Notes in groups of 50, most relations inside a group."""
    chance = random.Random(3)
    ids = [f"01JQ{number:022d}" for number in range(nodes)]
    kinds = list(RelationType)

    def edge() -> Edge:
        source = chance.randrange(nodes)
        near = min(source // 50 * 50 + chance.randrange(50), nodes - 1)
        target = chance.randrange(nodes) if chance.random() < 0.05 else near
        return Edge(ids[source], ids[target], chance.choice(kinds), chance.random() < 0.3)

    stored = [GraphNode(each, each, MemoryType.NOTE, f"{each}.md") for each in ids]
    return stored, [edge() for _ in range(edges)]


def test_ten_thousand_memories_are_put_and_asked_quickly() -> None:
    nodes, edges = large(10_000, 50_000)
    graph = NetworkxGraph()
    started = perf_counter()
    graph.put(nodes, edges)
    assert perf_counter() - started < 5  # 0.3 s on an idle core
    assert graph.counts()[0] == 10_000
    started = perf_counter()
    for node in nodes[:50]:
        around = graph.neighbourhood([node.id], depth=2, limit=50)
        assert len(around.distances) <= 50
    assert graph.shortest_path(nodes[0].id, nodes[-1].id)
    assert perf_counter() - started < 5  # 0.1 s on an idle core


def test_communities_are_the_same_in_every_process() -> None:
    code = """
from tests.unit.stores.test_networkx_graph import large
from hearthmind.stores.networkx_graph import NetworkxGraph
graph = NetworkxGraph()
graph.put(*large(400, 1600))
print([sorted(group) for group in graph.communities()])
"""
    answers = {
        subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            text=True,
            check=True,
            cwd=Path(__file__).parents[3],
            env={"PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("1", "2")
    }
    assert len(answers) == 1
    groups = answers.pop()
    assert groups.count("[") > 3
