"""Loops of a search over sets, orders and products of things end with the search: their number grows exponentially.

A question of 60 conditions has 2⁶⁰ sets of them. Such a loop asks the limit in each round, or is cut by `islice`.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import search

ROOT = Path(search.__file__).parent
NOT_OF_A_SEARCH = ("admin", "fixtures", "ingest", "jobs", "management", "migrations", "models")
GROWING = frozenset(
    {"combinations", "combinations_with_replacement", "permutations", "product", "powerset", "partitions", "subsets"}
)


def unbounded(source: str) -> list[int]:
    """Return the lines at which something of exponential number is made that neither a limit nor a number ends."""
    tree = ast.parse(source)
    inside = {below: node for node in ast.walk(tree) for below in ast.iter_child_nodes(node)}
    return [node.lineno for node in ast.walk(tree) if _grows(node) and not any(map(_ends, _around(node, inside)))]


def _grows(node: ast.AST) -> bool:
    if not isinstance(node, ast.Call):
        return False
    name, arguments = ast.unparse(node.func).rpartition(".")[2], node.args
    if name == "range":
        # for chosen in range(2**n)
        powers = (n for n in ast.walk(node) if isinstance(n, ast.BinOp) and isinstance(n.op, ast.Pow | ast.LShift))
        return any(not isinstance(power.right, ast.Constant) for power in powers)
    pairs = len(arguments) > 1 and isinstance(arguments[1], ast.Constant) and arguments[1].value == 2
    return name in GROWING and not pairs


def _around(node: ast.AST, inside: dict[ast.AST, ast.AST]) -> Iterator[ast.AST]:
    """Yield what a node stands in, up to its loop."""
    while (node := inside.get(node, ast.Module([], []))) and not isinstance(node, ast.stmt | ast.Module):
        yield node
    yield node


def _ends(node: ast.AST) -> bool:
    if isinstance(node, ast.For):
        first = node.body[0]
        return isinstance(first, ast.Expr) and isinstance(first.value, ast.Call) and _is_check(first.value)
    return isinstance(node, ast.Call) and ast.unparse(node.func).endswith("islice")


def _is_check(call: ast.Call) -> bool:
    return ast.unparse(call.func).split(".")[-2:] == ["limit", "check"]


def test_no_loop_of_a_search_over_sets_of_things_is_without_its_limit() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{line}"
        for path in sorted(ROOT.rglob("*.py"))
        if path.relative_to(ROOT).parts[0] not in NOT_OF_A_SEARCH
        for line in unbounded(path.read_text(encoding="utf-8"))
    ]
    assert found == [], "ask limit.check(stage) first in each round, or cut with islice"


@pytest.mark.parametrize(
    "loop",
    [
        "for size in range(n):\n    for chosen in combinations(parts, size):\n        yield chosen",
        "for chosen in itertools.permutations(parts):\n    limit.check('x') if chosen else None",
        "found = [one for one in product(*several)]",
        "for mask in range(1 << n):\n    yield mask",
        "for mask in range(2 ** len(parts)):\n    yield mask",
        "for chosen in combinations(parts, 3):\n    self.check()",
    ],
)
def test_a_loop_without_a_limit_is_seen(loop: str) -> None:
    assert unbounded(loop)


@pytest.mark.parametrize(
    "loop",
    [
        "for size in range(n):\n    for chosen in combinations(parts, size):\n        limit.check('recover')",
        "for chosen in permutations(parts):\n    self.limit.check('x')",
        "for chosen in islice(product(*several), 32):\n    yield chosen",
        "for one, two in combinations(parts, 2):\n    yield one",
    ],
)
def test_a_loop_with_a_limit_and_one_over_pairs_are_let_through(loop: str) -> None:
    assert unbounded(loop) == []
