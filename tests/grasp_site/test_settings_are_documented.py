import ast
import re
from collections.abc import Iterator
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
READERS = {"env_str", "env_secret", "env_bool", "env_int", "env_list"}


def names_read() -> Iterator[str]:
    """Every variable that the code reads from the environment, found in its syntax trees."""
    for package in ("grasp_site", "search", "training"):
        for path in (PROJECT / package).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in READERS:
                    argument = node.args[0]
                    if isinstance(argument, ast.Constant):
                        yield str(argument.value)


def names_in_readme() -> set[str]:
    """The names in code marks in the first cells of README's tables."""
    rows = re.findall(r"^\|([^|]*)\|", (PROJECT / "README.md").read_text(encoding="utf-8"), flags=re.MULTILINE)
    return {name for row in rows for name in re.findall(r"`([A-Z][A-Z0-9_]+)`", row)}


def test_every_variable_that_is_read_stands_in_the_readme() -> None:
    assert sorted(set(names_read()) - names_in_readme()) == []


def test_the_readme_names_no_variable_that_nobody_reads() -> None:
    assert sorted(names_in_readme() - set(names_read())) == []
