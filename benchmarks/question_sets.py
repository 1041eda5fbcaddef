"""The open sets of questions with known answers: where they are, of which base, and the kind of each question."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

from benchmarks.common import DATA, PROJECT, NotHere
from training.data.examples import Example, read_all, spread

DEMOS = PROJECT / "search" / "fixtures" / "demo"
KINDS = Path(__file__).with_name("kinds.toml")
APART = frozenset({"text", "mixed"})
"""Kinds of questions that texts answer, so that no plan alone can."""


@dataclass(frozen=True)
class QuestionSet:
    """The questions of one set over one base. `split` is the one that is asked by default, "all" for all of them.

    `most` is the largest number of questions; they are spread evenly over the file.
    """

    name: str
    base: str
    path: Path
    split: str = "all"
    most: int | None = None

    def examples(self, split: str = "") -> list[Example]:
        """Return the questions of a split (empty: the set's own), each with its kind in `slices["kind"]`.

        Raises NotHere if the file is missing or has no question of the split.
        """
        if not self.path.is_file():
            raise NotHere(f"needs {self.path}")
        wanted = split or self.split
        found = [one for one in read_all(self.path) if wanted in ("all", one.split)]
        if not found:
            raise NotHere(f"{self.path.name} has no question of the split {wanted}")
        return [replace(one, slices=one.slices | {"kind": kind(self.name, one)}) for one in spread(found, self.most)]


def question_sets(names: Sequence[str]) -> Iterator[QuestionSet]:
    """Yield the sets with these names: `geo`, `asked`, `movies`, `demo`, or `BASE=FILE` for any other file.

    Raises NotHere for an unknown name.
    """
    for name in names:
        if "=" in name:
            base, _, path = name.partition("=")
            yield QuestionSet(base, base, Path(path))
        elif name not in SETS:
            raise NotHere(f"knows no set {name!r} of questions; there are: {', '.join(SETS)}, and BASE=FILE")
        else:
            yield from SETS[name]


def _asked() -> list[QuestionSet]:
    return [QuestionSet("asked", path.stem, path, "val") for path in sorted((DATA / "asked").glob("*.jsonl"))]


def _demo() -> list[QuestionSet]:
    return [QuestionSet("demo", path.parent.name, path) for path in sorted(DEMOS.glob("*/questions.jsonl"))]


SETS = {
    "geo": [QuestionSet("geo", "geo", DATA / "geo" / "questions.jsonl", "train")],
    "asked": _asked(),
    "movies": [QuestionSet("movies", "movies", DATA / "movies" / "questions.jsonl.gz", "val", 300)],
    "demo": _demo(),
}


def kind(name: str, example: Example) -> str:
    """Return the kind of a question of the set `name`: its own, its number of hops, or that of its text."""
    if given := example.slices.get("kind"):
        return given
    if hops := example.slices.get("hops"):
        return f"{hops}-hop"
    return kind_of(example.text) if name == "geo" else "other"


def kind_of(text: str) -> str:
    """Return the kind of a question about GeoQuery's base, by `kinds.toml`."""
    said = " ".join(text.casefold().split())
    return next((name for name, pattern in _patterns() if pattern.search(said)), "other")


@lru_cache(maxsize=1)
def _patterns() -> list[tuple[str, re.Pattern[str]]]:
    told = tomllib.loads(KINDS.read_text(encoding="utf-8"))
    parts = {"%S": told["superlative"], "%T": told["type"]}
    return [
        (row["name"], re.compile(re.sub("%[ST]", lambda found: parts[found[0]], row["pattern"])))
        for row in told["kind"]
    ]
