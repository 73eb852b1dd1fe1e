"""A GraphStore as a plain list of edges: slow, obvious, and what the real ones are held to."""

import threading
from collections import deque
from collections.abc import Collection, Sequence

from hearthmind.errors import StoreUnavailable
from hearthmind.model.index import Edge, GraphNode, Neighbourhood
from hearthmind.model.memory import RelationType


class InMemoryGraphStore:
    """`down = True` makes every call raise StoreUnavailable, as a dead server would. Communities are the
    connected parts of the graph."""

    def __init__(self) -> None:
        self.down = False
        self.nodes: dict[str, GraphNode] = {}
        self._edges: dict[tuple[str, str, RelationType], bool] = {}
        self._lock = threading.RLock()

    @property
    def edges(self) -> list[Edge]:
        """Relations between stored memories; those to memories that are missing are not shown."""
        with self._lock:
            known = [key for key in self._edges if key[0] in self.nodes and key[1] in self.nodes]
            return [Edge(*key, typed=self._edges[key]) for key in sorted(known)]

    def put(self, nodes: Sequence[GraphNode], edges: Sequence[Edge]) -> None:
        self.check()
        with self._lock:
            sources = {node.id for node in nodes}
            self.nodes.update((node.id, node) for node in nodes)
            self._edges = {key: typed for key, typed in self._edges.items() if key[0] not in sources}
            for edge in edges:
                if edge.source in sources and edge.source != edge.target:
                    key = (edge.source, edge.target, edge.type)
                    self._edges[key] = edge.typed or self._edges.get(key, False)

    def delete(self, ids: Collection[str]) -> None:
        self.check()
        with self._lock:
            gone = set(ids)
            self.nodes = {key: node for key, node in self.nodes.items() if key not in gone}
            self._edges = {key: typed for key, typed in self._edges.items() if not gone & set(key[:2])}

    def neighbourhood(
        self, ids: Collection[str], depth: int = 1, types: Collection[RelationType] = (), limit: int = 200
    ) -> Neighbourhood:
        self.check()
        edges = [edge for edge in self.edges if not types or edge.type in types]
        distances = dict.fromkeys(sorted(set(ids) & self.nodes.keys())[: max(limit, 0)], 0)
        for step in range(1, depth + 1):
            ring = {node for node, distance in distances.items() if distance == step - 1}
            reached: dict[str, bool] = {}
            for edge in edges:
                for here, there in ((edge.source, edge.target), (edge.target, edge.source)):
                    if here in ring and there not in distances:
                        reached[there] = edge.typed or reached.get(there, False)
            nearest = sorted(reached, key=lambda node: (not reached[node], node))
            distances.update(dict.fromkeys(nearest[: max(limit - len(distances), 0)], step))
        among = tuple(edge for edge in edges if edge.source in distances and edge.target in distances)
        return Neighbourhood(distances, among)

    def shortest_path(self, source: str, target: str) -> Sequence[str]:
        self.check()
        paths = deque([[source]] if source in self.nodes else [])
        seen = {source}
        while paths:
            path = paths.popleft()
            if path[-1] == target:
                return path
            for other in self._beside(path[-1]):
                if other not in seen:
                    seen.add(other)
                    paths.append([*path, other])
        return []

    def communities(self) -> Sequence[frozenset[str]]:
        self.check()
        left, groups = set(self.nodes), []
        while left:
            group, pending = set[str](), [min(left)]
            while pending:
                node = pending.pop()
                if node not in group:
                    group.add(node)
                    pending.extend(self._beside(node))
            left -= group
            groups.append(sorted(group))
        ordered = sorted((group for group in groups if len(group) > 1), key=lambda group: (-len(group), group))
        return [frozenset(group) for group in ordered]

    def orphans(self) -> Sequence[str]:
        self.check()
        related = {end for edge in self.edges for end in (edge.source, edge.target)}
        return sorted(self.nodes.keys() - related)

    def counts(self) -> tuple[int, int]:
        self.check()
        return len(self.nodes), len(self.edges)

    def clear(self) -> None:
        self.check()
        with self._lock:
            self.nodes, self._edges = {}, {}

    def check(self) -> None:
        if self.down:
            raise StoreUnavailable("the graph is down")

    def close(self) -> None:
        self.down = True

    def _beside(self, node: str) -> list[str]:
        pairs = [(edge.source, edge.target) for edge in self.edges]
        return sorted({b for a, b in pairs if a == node} | {a for a, b in pairs if b == node})
