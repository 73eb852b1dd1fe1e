"""What every graph store promises (ports.GraphStore)."""

import random
import threading
from collections.abc import Iterator

import networkx as nx
import pytest
from tests.fakes.graph_store import InMemoryGraphStore

from hearthmind.errors import StoreUnavailable
from hearthmind.model.index import Edge, GraphNode
from hearthmind.model.memory import MemoryType, RelationType
from hearthmind.ports import GraphStore
from hearthmind.stores.networkx_graph import NetworkxGraph

RELATES, SUPPORTS, FOLLOWS = RelationType.RELATES_TO, RelationType.SUPPORTS, RelationType.FOLLOWS


@pytest.fixture(params=["fake", "networkx"])
def graph(request: pytest.FixtureRequest) -> Iterator[GraphStore]:
    opened: GraphStore = InMemoryGraphStore() if request.param == "fake" else NetworkxGraph()
    yield opened
    opened.close()


def node(name: str) -> GraphNode:
    return GraphNode(name, f"Note {name}", MemoryType.NOTE, f"{name}.md", tags=("a", "b"))


def fill(graph: GraphStore, names: str, *edges: Edge) -> None:
    graph.put([node(name) for name in names], edges)


def plain(source: str, target: str) -> Edge:
    return Edge(source, target, RELATES)


def typed(source: str, target: str, kind: RelationType = SUPPORTS) -> Edge:
    return Edge(source, target, kind, typed=True)


def test_an_empty_graph_answers(graph: GraphStore) -> None:
    assert graph.counts() == (0, 0)
    assert graph.neighbourhood(["a"]).distances == {}
    assert list(graph.shortest_path("a", "b")) == []
    assert list(graph.communities()) == []
    assert list(graph.orphans()) == []
    graph.check()


def test_neighbours_in_both_directions_with_their_relations(graph: GraphStore) -> None:
    fill(graph, "abcd", plain("a", "b"), typed("c", "a"), plain("b", "c"), plain("c", "d"))
    around = graph.neighbourhood(["a"])
    assert list(around.distances.items()) == [("a", 0), ("c", 1), ("b", 1)]
    assert set(around.edges) == {plain("a", "b"), typed("c", "a"), plain("b", "c")}


def test_within_one_distance_typed_relations_come_first_then_the_id(graph: GraphStore) -> None:
    fill(graph, "mzyxw", plain("m", "w"), typed("m", "z"), plain("x", "m"), typed("y", "m"), plain("m", "y"))
    assert list(graph.neighbourhood(["m"]).distances) == ["m", "y", "z", "w", "x"]


def test_further_steps_reach_further(graph: GraphStore) -> None:
    fill(graph, "abcde", plain("a", "b"), plain("c", "b"), plain("c", "d"), plain("d", "e"))
    assert graph.neighbourhood(["a"], depth=0).distances == {"a": 0}
    assert graph.neighbourhood(["a"], depth=2).distances == {"a": 0, "b": 1, "c": 2}
    assert graph.neighbourhood(["a", "e"], depth=1).distances == {"a": 0, "e": 0, "b": 1, "d": 1}
    assert graph.neighbourhood(["a"], depth=99).distances == {"a": 0, "b": 1, "c": 2, "d": 3, "e": 4}


def test_only_relations_of_the_types_asked_for(graph: GraphStore) -> None:
    fill(graph, "abcd", typed("a", "b"), plain("b", "a"), plain("a", "c"), typed("b", "d", FOLLOWS))
    around = graph.neighbourhood(["a"], depth=2, types=[SUPPORTS, FOLLOWS])
    assert around.distances == {"a": 0, "b": 1, "d": 2}
    assert set(around.edges) == {typed("a", "b"), typed("b", "d", FOLLOWS)}


def test_the_limit_keeps_the_nearest(graph: GraphStore) -> None:
    fill(graph, "abcdef", plain("a", "b"), plain("a", "c"), typed("a", "d"), plain("d", "e"), plain("b", "f"))
    assert list(graph.neighbourhood(["a"], depth=3, limit=3).distances) == ["a", "d", "b"]
    assert list(graph.neighbourhood(["a"], depth=3, limit=5).distances) == ["a", "d", "b", "c", "e"]
    assert list(graph.neighbourhood(["c", "b", "zz"], limit=1).distances) == ["b"]


def test_putting_again_changes_nothing(graph: GraphStore) -> None:
    for _ in range(2):
        fill(graph, "abc", plain("a", "b"), typed("a", "b"), typed("b", "c"))
        assert graph.counts() == (3, 3)


def test_between_two_memories_stands_one_relation_of_a_type_and_typed_wins(graph: GraphStore) -> None:
    fill(graph, "ab", plain("a", "b"), Edge("a", "b", RELATES, typed=True), plain("a", "b"))
    assert graph.neighbourhood(["a"]).edges == (Edge("a", "b", RELATES, typed=True),)
    fill(graph, "a", plain("a", "b"))
    assert graph.neighbourhood(["a"]).edges == (plain("a", "b"),)


def test_put_replaces_outgoing_relations_and_keeps_incoming_ones(graph: GraphStore) -> None:
    fill(graph, "abc", plain("a", "b"), plain("b", "c"), plain("c", "a"))
    fill(graph, "a", typed("a", "c"))
    assert graph.counts() == (3, 3)
    assert set(graph.neighbourhood(["a"]).edges) == {typed("a", "c"), plain("c", "a")}
    assert set(graph.neighbourhood(["b"]).edges) == {plain("b", "c")}


def test_an_edge_to_an_unknown_memory_appears_with_it(graph: GraphStore) -> None:
    fill(graph, "a", typed("a", "b"), plain("a", "c"))
    assert graph.counts() == (1, 0)
    assert list(graph.orphans()) == ["a"]
    assert graph.neighbourhood(["a", "b"], depth=2).distances == {"a": 0}
    fill(graph, "b")
    assert graph.counts() == (2, 1)
    assert graph.neighbourhood(["b"]).edges == (typed("a", "b"),)
    fill(graph, "a")
    fill(graph, "c")
    assert graph.counts() == (3, 0)


def test_edges_without_their_source_and_to_itself_are_left_out(graph: GraphStore) -> None:
    fill(graph, "ab", plain("a", "a"), plain("c", "a"))
    fill(graph, "a", plain("b", "a"))
    fill(graph, "c")
    assert graph.counts() == (3, 0)


def test_deleting_drops_every_relation_that_touches_a_memory(graph: GraphStore) -> None:
    fill(graph, "abcd", plain("a", "b"), typed("b", "c"), plain("c", "a"), plain("d", "x"))
    graph.delete(["b", "x", "unknown"])
    assert graph.counts() == (3, 1)
    fill(graph, "bx")
    assert graph.counts() == (5, 1)
    graph.delete(["c"])
    assert list(graph.orphans()) == ["a", "b", "d", "x"]


def test_deleting_a_memory_forgets_what_it_waited_for(graph: GraphStore) -> None:
    fill(graph, "a", plain("a", "later"))
    graph.delete(["a"])
    fill(graph, "a")
    graph.put([node("later")], [])
    assert graph.counts() == (2, 0)


def test_the_shortest_path_leaves_direction_aside(graph: GraphStore) -> None:
    fill(graph, "abcdez", plain("b", "a"), plain("b", "c"), plain("c", "d"), plain("a", "e"), plain("e", "d"))
    assert list(graph.shortest_path("a", "d")) == ["a", "e", "d"]
    assert list(graph.shortest_path("d", "b")) == ["d", "c", "b"]
    assert list(graph.shortest_path("a", "a")) == ["a"]
    assert list(graph.shortest_path("a", "z")) == []
    assert list(graph.shortest_path("a", "unknown")) == []
    assert list(graph.shortest_path("unknown", "unknown")) == []


def test_communities_are_largest_first_and_leave_out_the_lonely(graph: GraphStore) -> None:
    clique = [plain(a, b) for a in "bcde" for b in "bcde" if a < b]
    fill(graph, "bcdefghxyz", *clique, plain("f", "g"), plain("g", "h"), plain("h", "f"), typed("x", "y"))
    groups = [frozenset("bcde"), frozenset("fgh"), frozenset("xy")]
    assert list(graph.communities()) == groups
    assert list(graph.communities()) == groups


def test_clearing_forgets_everything(graph: GraphStore) -> None:
    fill(graph, "ab", plain("a", "b"), plain("a", "c"))
    graph.clear()
    assert graph.counts() == (0, 0)
    fill(graph, "bc")
    assert graph.counts() == (2, 0)


def test_a_random_history_ends_like_its_last_state(graph: GraphStore) -> None:
    """Puts and deletes in any order, against a model kept beside: nodes, and the relations of their last put."""
    chance = random.Random(7)
    names = [f"n{number:02d}" for number in range(25)]
    kinds = list(RelationType)
    nodes: set[str] = set()
    edges: dict[tuple[str, str, RelationType], bool] = {}
    for _ in range(300):
        chosen = chance.sample(names, 2)
        if chance.random() < 0.25:
            graph.delete(chosen)
            nodes -= set(chosen)
            edges = {key: flag for key, flag in edges.items() if not set(chosen) & {key[0], key[1]}}
            continue
        new = [
            Edge(source, chance.choice(names), chance.choice(kinds), chance.random() < 0.5)
            for source in chosen
            for _ in range(chance.randrange(4))
        ]
        graph.put([node(name) for name in chosen], new)
        nodes |= set(chosen)
        edges = {key: flag for key, flag in edges.items() if key[0] not in chosen}
        for edge in new:
            if edge.source != edge.target:
                key = (edge.source, edge.target, edge.type)
                edges[key] = edge.typed or edges.get(key, False)
    shown = {Edge(*key, typed=flag) for key, flag in edges.items() if key[0] in nodes and key[1] in nodes}
    whole = graph.neighbourhood(nodes, depth=0, limit=100)
    assert set(whole.distances) == nodes
    assert set(whole.edges) == shown
    assert graph.counts() == (len(nodes), len(shown))
    known = nx.Graph([(edge.source, edge.target) for edge in shown])
    for source, target in [chance.sample(sorted(known), 2) for _ in range(20)]:
        length = nx.shortest_path_length(known, source, target) if nx.has_path(known, source, target) else -1
        assert len(graph.shortest_path(source, target)) == length + 1


def test_threads_read_while_others_write(graph: GraphStore) -> None:
    fill(graph, "abcdef", *[plain(a, b) for a in "abcdef" for b in "abcdef" if a != b])
    failures: list[BaseException] = []
    done = threading.Event()

    def read() -> None:
        try:
            while not done.is_set():
                for edge in graph.neighbourhood(["a", "b"], depth=2).edges:
                    assert edge.source != edge.target
                graph.shortest_path("a", "f")
                graph.orphans()
        except BaseException as error:  # noqa: BLE001 - handed to the test
            failures.append(error)

    threads = [threading.Thread(target=read) for _ in range(4)]
    for thread in threads:
        thread.start()
    for turn in range(200):
        fill(graph, "cdx", plain("c", "x"), plain("d", "a"), plain("x", "ab"[turn % 2]))
        graph.delete(["x", "d"])
    done.set()
    for thread in threads:
        thread.join()
    assert failures == []
    assert graph.counts()[0] == 5


def test_a_closed_graph_says_so(graph: GraphStore) -> None:
    graph.close()
    with pytest.raises(StoreUnavailable):
        graph.check()
    with pytest.raises(StoreUnavailable):
        graph.neighbourhood(["a"])
