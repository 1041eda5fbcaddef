"""Converts rows of matches into paths from the anchors to the target."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol, TypeVar

from search.domain.errors import StageError
from search.domain.evidence import Path, PathEdge, PathNode
from search.domain.graph import Direction, Schema
from search.domain.plan import Hop, Plan
from search.domain.plan.routes import routes
from search.interfaces import NodeStore

Matches = dict[int, list[tuple[Path, ...]]]
"""Key of a candidate → its best matches, each as one path for each anchor that hops connect with the target."""
Q = TypeVar("Q", covariant=True)


class PathCompiler(Protocol[Q]):
    """Compiles an engine's statement for the paths of given candidates; an instance is used once."""

    @property
    def burden(self) -> int:
        """Cost class of the heaviest hop: 0 if everything is read quickly, larger the more edges it reads."""
        ...

    def paths(self, keys: Sequence[int], most: int, *, from_target: bool) -> Q:
        """Return the statement, walked from the anchors, or from the candidates with `from_target`."""
        ...


def compiled(make: Callable[[], PathCompiler[Q]], keys: Sequence[int], most: int, *, from_target: bool) -> Q:
    """Return the statement for the best `most` paths of each key.

    It walks from the anchors. It walks from the candidates if `from_target` is set, or if the anchors have very many
    edges.
    """
    if not from_target:
        compiler = make()
        statement = compiler.paths(keys, most, from_target=False)
        if compiler.burden == 0:
            return statement
    return make().paths(keys, most, from_target=True)


def from_either_end(ask: Callable[[Sequence[int], bool], tuple[Matches, bool]], keys: Sequence[int]) -> Matches:
    """Return the paths of the keys: walked from the anchors, then from the keys for those lost by a cut.

    `ask` takes keys and whether to walk from them, and returns their paths and whether partial matches were cut off.
    Raises StageError if both walks are cut off before every key has paths, because the remaining keys may or may not
    have any.
    """
    found, cut = ask(keys, False)
    missing = [key for key in keys if key not in found]
    if cut and missing:
        more, cut = ask(missing, True)
        found = found | more
        if cut and len(more) < len(set(missing)):
            raise StageError("explain", "the plan has more partial matches than are looked through", permanent=True)
    return found


def among_keys(
    ask: Callable[[Sequence[int], bool], tuple[Iterable[int], bool]], keys: Sequence[int], *, anchored: bool
) -> set[int]:
    """Return which keys the target takes in a match.

    `ask` takes keys and whether to walk from them, and gives those that match and whether partial matches were cut. A
    plan without anchors can only be walked from the keys. What a cut leaves open is asked again from the keys, then key
    by key: one alone either matches within the cut, or is not known. Raises StageError where one is not known.
    """
    found: set[int] = set()
    missing = list(keys)
    for from_target in (False, True) if anchored else (True,):
        more, cut = ask(missing, from_target)
        found.update(more)
        missing = [key for key in missing if key not in found]
        if not cut or not missing:
            return found
    for key in missing:
        more, cut = ask([key], True)
        found.update(more)
        if cut and key not in found:
            raise StageError("check", "the plan has more partial matches than are looked through", permanent=True)
    return found


def read_paths(plan: Plan, rows: Iterable[Sequence[Any]], schema: Schema, nodes: NodeStore, most: int) -> Matches:
    """Return key of the target → its best matches as paths.

    A row is the score, the key of each variable, and for each hop the relation code and whether the edge is stored in
    the hop's direction.
    """
    variables = plan.variables
    matches: dict[int, list[tuple[Any, ...]]] = {}
    for row in rows:
        match = tuple(row[1:])
        kept = matches.setdefault(match[variables.index(plan.target.var)], [])
        if match not in kept and len(kept) < most:
            kept.append(match)
    keys = sorted({key for kept in matches.values() for match in kept for key in match[: len(variables)]})
    named = dict(zip(keys, nodes.references(keys), strict=True))
    walks = [(anchor.var, walk) for anchor in plan.anchors if (walk := _walk(plan, anchor.var)) is not None]

    def paths(match: Sequence[Any]) -> tuple[Path, ...]:
        standing = {var: PathNode(named[key], var) for var, key in zip(variables, match, strict=False)}
        edges = match[len(variables) :]
        return tuple(_path(walk, start, standing, edges, schema) for start, walk in walks)

    return {key: [paths(match) for match in kept] for key, kept in matches.items()}


def _walk(plan: Plan, start: str) -> list[tuple[int, Hop, bool]] | None:
    """Return an anchor's chain to the target in walking order: (index of the hop, hop, walked as written).

    None if only a comparison connects the anchor with the target.
    """
    legs = routes([(hop.source, hop.to_var) for hop in plan.hops], start).get(plan.target.var)
    return None if legs is None else [(leg.hop, plan.hops[leg.hop], not leg.turned) for leg in legs]


def _path(
    walk: Sequence[tuple[int, Hop, bool]],
    start: str,
    standing: Mapping[str, PathNode],
    edges: Sequence[Any],
    schema: Schema,
) -> Path:
    nodes, taken = [standing[start]], []
    for index, hop, as_written in walk:
        code, forward = edges[2 * index : 2 * index + 2]
        direction: Direction = "out" if forward == as_written else "in"
        taken.append(PathEdge(schema.relations[code].name, direction))
        nodes.append(standing[hop.to_var if as_written else hop.source])
    return Path(tuple(nodes), tuple(taken))
