"""Stages and pipelines derive their limits from the given one: one made by hand would lose the budget of the search."""

import ast
from pathlib import Path

import search

ROOT = Path(search.__file__).parent
MAKERS = {"Limit", "Limit.seconds"}


def test_no_stage_and_no_pipeline_makes_a_limit_of_its_own() -> None:
    made = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for room in ("stages", "pipelines", "language")
        for path in sorted((ROOT / room).rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and ast.unparse(node.func) in MAKERS
    ]
    assert made == [], "use limit.at_most(seconds) or limit.share(part)"
