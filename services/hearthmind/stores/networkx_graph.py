"""The graph of memories in this process (NetworkX), filled from the catalog at start."""

import threading
from collections.abc import Collection, Iterator, Sequence

import networkx as nx

from hearthmind.errors import StoreUnavailable
from hearthmind.model.index import Edge, GraphNode, Neighbourhood
from hearthmind.model.memory import RelationType

_SEED = 20260322
"""Of the search for communities: the same graph always gives the same groups."""


class NetworkxGraph:
    """`ports.GraphStore` in memory, empty at first. Safe for concurrent threads.

    Between two memories stands at most one relation of a type; typed wins over plain. An edge to a memory that
    is not stored yet waits, uncounted, until that is put or its source is put again. An edge whose source is
    not among the nodes of the same `put`, and one from a memory to itself, are left out.
    """

    def __init__(self) -> None:
        self._graph: nx.MultiDiGraph[str] = nx.MultiDiGraph()
        self._awaited: dict[str, dict[tuple[str, RelationType], bool]] = {}
        """By missing target: (source, type) → typed."""
        self._awaiting: dict[str, set[str]] = {}
        """By source: the missing targets it points to."""
        self._lock = threading.RLock()
        self._closed = False

    def put(self, nodes: Sequence[GraphNode], edges: Sequence[Edge]) -> None:
        with self._lock:
            self.check()
            sources = {node.id for node in nodes}
            for source in sources:
                if source in self._graph:
                    self._graph.remove_edges_from(list(self._graph.out_edges(source, keys=True)))
                    self._stop_waiting(source)
                else:
                    self._graph.add_node(source)
            for edge in edges:
                if edge.source in sources and edge.source != edge.target:
                    self._relate(edge.source, edge.target, edge.type, edge.typed)
            for target in sources & self._awaited.keys():
                for (source, kind), typed in self._awaited.pop(target).items():
                    self._awaiting[source].discard(target)
                    self._relate(source, target, kind, typed)

    def delete(self, ids: Collection[str]) -> None:
        with self._lock:
            self.check()
            for node in set(ids):
                self._stop_waiting(node)
                for source, _ in self._awaited.pop(node, {}):
                    self._awaiting[source].discard(node)
                if node in self._graph:
                    self._graph.remove_node(node)

    def neighbourhood(
        self, ids: Collection[str], depth: int = 1, types: Collection[RelationType] = (), limit: int = 200
    ) -> Neighbourhood:
        """Within one distance, memories reached over a typed relation come first, then the order is by id."""
        wanted = frozenset(types) or frozenset(RelationType)
        with self._lock:
            self.check()
            ring = sorted({node for node in ids if node in self._graph})[: max(limit, 0)]
            distances = dict.fromkeys(ring, 0)
            for step in range(1, depth + 1):
                reached: dict[str, bool] = {}
                for node in ring:
                    for other, typed in self._steps(node, wanted):
                        if other not in distances:
                            reached[other] = typed or reached.get(other, False)
                ring = sorted(reached, key=lambda node: (not reached[node], node))
                ring = ring[: max(limit - len(distances), 0)]
                if not ring:
                    break
                distances.update(dict.fromkeys(ring, step))
            return Neighbourhood(distances, tuple(self._among(distances, wanted)))

    def shortest_path(self, source: str, target: str) -> Sequence[str]:
        with self._lock:
            self.check()
            if source not in self._graph or target not in self._graph:
                return []
            undirected = self._graph.to_undirected(as_view=True)
            try:
                return list(nx.bidirectional_shortest_path(undirected, source, target))
            except nx.NetworkXNoPath:
                return []

    def communities(self) -> Sequence[frozenset[str]]:
        """Louvain (Blondel et al. 2008); a relation weighs 1. Memories that are grouped with no other are left
        out. Takes seconds at 50,000 relations; others may use the graph meanwhile."""
        with self._lock:
            self.check()
            names = sorted(self._graph)
            pairs = list(self._graph.edges())
        # Numbers instead of ids: hashes of strings differ between processes, and with them the groups.
        numbers = {name: number for number, name in enumerate(names)}
        plain: nx.Graph[int] = nx.Graph()
        plain.add_nodes_from(range(len(names)))
        for source, target in sorted((numbers[source], numbers[target]) for source, target in pairs):
            weight = plain.get_edge_data(source, target, {"weight": 0})["weight"]
            plain.add_edge(source, target, weight=weight + 1)
        groups = nx.community.louvain_communities(plain, seed=_SEED) if pairs else []
        named = [sorted(names[number] for number in group) for group in groups if len(group) > 1]
        return [frozenset(group) for group in sorted(named, key=lambda group: (-len(group), group))]

    def orphans(self) -> Sequence[str]:
        with self._lock:
            self.check()
            return sorted(node for node in self._graph if not self._graph.succ[node] and not self._graph.pred[node])

    def counts(self) -> tuple[int, int]:
        with self._lock:
            self.check()
            return self._graph.number_of_nodes(), self._graph.number_of_edges()

    def clear(self) -> None:
        with self._lock:
            self.check()
            self._graph.clear()
            self._awaited.clear()
            self._awaiting.clear()

    def check(self) -> None:
        if self._closed:
            raise StoreUnavailable("the graph is closed")

    def close(self) -> None:
        with self._lock:
            self._closed = True
            self._graph = nx.MultiDiGraph()
            self._awaited, self._awaiting = {}, {}

    def _relate(self, source: str, target: str, kind: RelationType, typed: bool) -> None:
        if target not in self._graph:
            waiting = self._awaited.setdefault(target, {})
            waiting[source, kind] = typed or waiting.get((source, kind), False)
            self._awaiting.setdefault(source, set()).add(target)
        elif typed or not self._graph.has_edge(source, target, kind):
            self._graph.add_edge(source, target, kind, typed=typed)

    def _stop_waiting(self, source: str) -> None:
        for target in self._awaiting.pop(source, ()):
            kept = {key: typed for key, typed in self._awaited[target].items() if key[0] != source}
            if kept:
                self._awaited[target] = kept
            else:
                del self._awaited[target]

    def _steps(self, node: str, wanted: frozenset[RelationType]) -> Iterator[tuple[str, bool]]:
        for side in (self._graph.succ[node], self._graph.pred[node]):
            for other, relations in side.items():
                found = [data["typed"] for kind, data in relations.items() if kind in wanted]
                if found:
                    yield other, any(found)

    def _among(self, ids: Collection[str], wanted: frozenset[RelationType]) -> Iterator[Edge]:
        for source in sorted(ids):
            successors = self._graph.succ[source]
            for target in sorted(other for other in successors if other in ids):
                for kind, data in sorted(successors[target].items()):
                    if kind in wanted:
                        yield Edge(source, target, RelationType(kind), data["typed"])
