"""One name for one thing: no class name stands for two things."""

import ast
from collections import defaultdict
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[1]
SHARED = {"Command", "Node", "Question"}
"""Django's name of every command, and the rows that are named as what the domain computes with."""


def test_no_two_public_classes_have_one_name() -> None:
    defined: dict[str, list[str]] = defaultdict(list)
    for room in ("grasp_site", "search", "training"):
        for path in (PROJECT / room).rglob("*.py"):
            if "migrations" in path.parts:
                continue
            for node in ast.parse(path.read_text()).body:
                if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                    defined[node.name].append(str(path.relative_to(PROJECT)))
    assert len(defined) > 1_000
    assert {name: places for name, places in defined.items() if len(places) > 1 and name not in SHARED} == {}
