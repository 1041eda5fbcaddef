"""The rules of the grammar, read from grammar.toml, and the weights of its features."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from importlib import import_module
from pathlib import Path
from typing import Any

from search.stages.plan.derivation import Features
from search.stages.plan.operators.context import Made

_FOLDER = Path(__file__).parent
WEIGHTS = _FOLDER / "weights.json"
"""The fitted weight of each feature."""
Function = Callable[..., Iterator[Made]]


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule: the categories of its sides (`right` is empty for a rule of one side) and of what it makes."""

    id: str
    left: str
    right: str
    result: str
    function: Function
    example: str
    feature: str


@dataclass(frozen=True, eq=False)
class Grammar:
    """The rules, by the categories that they join. A rule in `without` is left out."""

    rules: tuple[Rule, ...]
    without: frozenset[str] = frozenset()

    @cached_property
    def of_two(self) -> dict[str, dict[str, list[Rule]]]:
        """Left category → right category → the rules that join them."""
        found: dict[str, dict[str, list[Rule]]] = {}
        for rule in self._used:
            if rule.right:
                found.setdefault(rule.left, {}).setdefault(rule.right, []).append(rule)
        return found

    @cached_property
    def of_one(self) -> dict[str, list[Rule]]:
        """Category → the rules of one side."""
        found: dict[str, list[Rule]] = {}
        for rule in self._used:
            if not rule.right:
                found.setdefault(rule.left, []).append(rule)
        return found

    @property
    def _used(self) -> list[Rule]:
        return [rule for rule in self.rules if rule.id not in self.without]


@lru_cache(maxsize=1)
def grammar() -> Grammar:
    """Return the grammar of grammar.toml."""
    written = tomllib.loads((_FOLDER / "grammar.toml").read_text(encoding="utf-8"))["rules"]
    return Grammar(tuple(_rule(one) for one in written))


def _rule(written: Mapping[str, Any]) -> Rule:
    module, name = written["function"].split(".")
    function: Function = getattr(import_module(f"search.stages.plan.operators.{module}"), name)
    return Rule(
        written["id"], written["left"], written.get("right", ""), written["result"], function, written["example"],
        f"rule:{written['id']}",
    )  # fmt: skip


@dataclass(eq=False)
class GrammarWeights:
    """The weight of each feature; a feature without one counts 0."""

    of: dict[str, float] = field(default_factory=dict)

    def __call__(self, features: Features) -> float:
        """Return the score of some features."""
        of, score = self.of, 0.0
        for name, value in features:
            if value:
                score += of.get(name, 0.0) * value
        return score

    @classmethod
    def read(cls, path: Path = WEIGHTS) -> GrammarWeights:
        """Return the fitted weights that are kept with the grammar."""
        return cls(json.loads(path.read_text(encoding="utf-8")))


@lru_cache(maxsize=1)
def fitted() -> GrammarWeights:
    """Return the weights that are kept with the grammar, read once: a reader is made anew for every search."""
    return GrammarWeights.read()
