"""Questions over the demo bases with what is expected of their first plans, read from this folder and from others."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path
from typing import Any

from tests.search.demo_schema import DEMO
from training.data.examples import read_all

HERE = Path(__file__).parent
BASES = ("biomedical", "papers", "products")
ASKED = HERE.parents[2] / "shared" / "data" / "asked"
FAILURES = HERE / "known_failures.toml"
APART = frozenset({"text", "mixed"})
"""Kinds of the other files whose answers texts decide, so that no plan alone has them."""
ANYTHING = "*"
"""As `rest`: whether the plan leaves anything to texts does not matter."""


@dataclass(frozen=True)
class Question:
    """A question, and what is expected of its first plan (README.md); None where nothing is."""

    base: str
    text: str
    kind: str
    id: str = ""
    answers: tuple[str, ...] | None = None
    has: tuple[str, ...] = ()
    lacks: tuple[str, ...] = ()
    first: str | None = None
    ask: str | None = None
    yes: bool | None = None
    known: bool = True
    show: str | None = None
    labels: tuple[str, ...] | None = None
    text_alone: bool = False
    alike: tuple[str, ...] | None = None
    rest: str = ""
    least: float = 0.0
    most: float = 1.0
    plan: Mapping[str, Any] | None = None

    @property
    def name(self) -> str:
        """Name of the question's test."""
        return f"{self.base}: {self.id or self.text}"


def written() -> Iterator[Question]:
    """Yield the questions of this folder. Raises ValueError for a key that nothing is known of."""
    for base in BASES:
        for kind, entries in tomllib.loads((HERE / f"{base}.toml").read_text(encoding="utf-8")).items():
            for text, entry in entries.items():
                yield _question(base, text, kind, {"answers": entry} if isinstance(entry, list) else entry)


def of_demos() -> Iterator[Question]:
    """Yield the questions that the demo bases bring."""
    for base in BASES:
        yield from _examples(base, DEMO / base / "questions.jsonl")


def of_people() -> Iterator[Question]:
    """Yield the questions that people asked over the demo bases; none where they are not beside the repository."""
    for base in BASES:
        if (path := ASKED / f"{base}.jsonl").is_file():
            yield from _examples(base, path)


def everything() -> list[Question]:
    """Return all of these questions."""
    return [*written(), *of_demos(), *of_people()]


def _question(base: str, text: str, kind: str, entry: Mapping[str, Any]) -> Question:
    told = {("text_alone" if key == "text" else key): value for key, value in entry.items()}
    known = {one.name for one in fields(Question)} - {"base", "text", "kind", "id"}
    if unknown := sorted(set(told) - known):
        raise ValueError(
            f"{base}.toml: {text!r} has {', '.join(unknown)}; an entry may have: {', '.join(sorted(known))}"
        )
    lists = {key: tuple(value) for key, value in told.items() if isinstance(value, list)}
    plan = {"plan": json.loads(told["plan"])} if "plan" in told else {}
    return Question(base, text, kind, **(told | lists | plan))


def _examples(base: str, path: Path) -> Iterator[Question]:
    names = _names(base)
    for one in read_all(path):
        if one.slices.get("kind") not in APART:
            answers = tuple(names[node] for node in one.answers)
            # What their plans leave to texts is not expected, only what they find.
            yield Question(base, one.text, one.slices["kind"], one.id, answers, rest=ANYTHING)


def known_failures() -> frozenset[str]:
    """Return the names of the questions that the planner fails on today."""
    return frozenset(tomllib.loads(FAILURES.read_text(encoding="utf-8"))["failing"])


def write_failures(names: Sequence[str]) -> None:
    """Write the names of the questions that the planner fails on."""
    lines = [line for line in FAILURES.read_text(encoding="utf-8").splitlines() if line.startswith("#")]
    lines += ["failing = [", *(f"    {json.dumps(name, ensure_ascii=False)}," for name in names), "]"]
    FAILURES.write_text("\n".join(lines) + "\n", encoding="utf-8")


@cache
def _names(base: str) -> Mapping[str, str]:
    """Return id of a node → its name."""
    rows = map(json.loads, (DEMO / base / "nodes.jsonl").read_text(encoding="utf-8").splitlines())
    return {row["id"]: row["name"] for row in rows}
