"""Settings as they are typed behind a command."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from search.domain.errors import InvalidRequest
from search.domain.options import assembled, assigned, option, options_of, part, tools_of


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("k=5", 5), ("k=5.5", 5.5), ("k=true", True), ("k=[1, 2]", [1, 2]), ('k="5"', "5"), ("k=dynamic", "dynamic"),
        ("k=", ""), ("k=a=b", "a=b"), ("k= 5", 5), ("k={", "{"), ("k=" + "[" * 100_000, "[" * 100_000),
    ],
    ids=lambda given: str(given)[:12],
)  # fmt: skip
def test_a_value_is_json_or_else_what_was_typed(text: str, value: object) -> None:
    assert assigned([text]) == {"k": value}


def test_the_last_of_equal_keys_counts() -> None:
    assert assigned(["fuse.k=1", "depth=3", "fuse.k=2"]) == {"fuse.k": 2, "depth": 3}
    assert assigned([]) == {}


def test_everything_that_is_no_setting_is_said_at_once() -> None:
    with pytest.raises(InvalidRequest) as refused:
        assigned(["fuse.k", "k=1", "=5", ""])
    assert [fault.message for fault in refused.value.faults] == [
        "--set takes key=value, not 'fuse.k'.", "--set takes key=value, not '=5'.", "--set takes key=value, not ''.",
    ]  # fmt: skip


@dataclass(frozen=True)
class Inner:
    """A stage by itself."""

    encoder: str
    size: int = option(3, "How large.", low=1)
    weights: tuple[float, ...] = option((1.0, 2.0), "What counts.")


@dataclass(frozen=True)
class Outer:
    """A stage that holds another one."""

    graph: str
    encoder: str
    inner: Inner = part(Inner)
    seconds: float = option(2.0, "How long.")


def test_the_options_and_tools_of_a_part_are_those_of_the_whole() -> None:
    assert list(options_of(Outer)) == ["size", "weights", "seconds"]
    assert tools_of(Outer) == ["graph", "encoder"]


def test_a_stage_is_assembled_with_its_parts() -> None:
    made = assembled(Outer, {"size": 5, "weights": [3.0, 4.0]}, str.upper)
    assert made == Outer("GRAPH", "ENCODER", Inner("ENCODER", 5, (3.0, 4.0)), 2.0)
