"""What a stretch of a question may mean, and how that meaning was put together."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from search.domain.plan.parts import Aggregate

Features = tuple[tuple[str, float], ...]


@dataclass(frozen=True, slots=True)
class SaidOrder:
    """An order that is said and not yet applied: by fields of these names, or by numbers of neighbours.

    `fields` are pairs of a type code and a field; `count` is set where something is counted or computed: a relation and
    a set, or a relation alone, or a `Computed`. `counts_subjects` says whether what is counted is the subject of its
    relation; None if the words leave it open.
    """

    end: str
    fields: tuple[tuple[int, str], ...] = ()
    count: tuple[Relating | None, Any] | None = None
    limit: int = 1
    counts_subjects: bool | None = None


@dataclass(frozen=True, slots=True)
class Computed:
    """Something computed from a field of neighbours, of those in the set `among` if one is said: *total sales*."""

    function: Aggregate
    fields: tuple[tuple[int, str], ...]
    among: Any = None


@dataclass(frozen=True, slots=True)
class Relating:
    """A word that says a relation. `way` is the direction from its subject to its object; None if it is not said.

    `noun` says that it names what the relation leads to (*capital*), so its object is where the relation begins.
    """

    relation: int
    way: str | None
    noun: bool = False


def turned(relating: Relating) -> Relating:
    """Return a relation that is said the other way round."""
    return replace(relating, way="in" if relating.way == "out" else "out")


@dataclass(frozen=True, slots=True)
class FieldNamed:
    """Words that name fields: pairs of a type code and a field."""

    fields: tuple[tuple[int, str], ...]


@dataclass(frozen=True, slots=True)
class Amount:
    """A comparison with a number or a date, or a range. `fields` are those that its unit or its words mean, if any do.

    `unit` is a known unit of the number, or empty. `days` are the first day of a date and the day behind its last one,
    as fields of dates write them; a whole year is written with four digits.
    """

    op: str
    low: float
    high: float
    fields: tuple[tuple[int, str], ...] = ()
    whole: bool = False
    unit: str = ""
    days: tuple[str, str] | None = None


@dataclass(eq=False, slots=True)
class Derivation:
    """One meaning of the words from `start` to `end` (places among the tokens), of a category, with its score.

    `features` are those of this step alone; `all_features` sums those of the whole tree. `covered` is a bit mask of the
    tokens that mean something in it, `rules` names the rule or the annotation of this step. `walks` holds those
    from its set to nodes of some types, by their mask: a set is joined with many others of the same types.
    """

    start: int
    end: int
    category: str
    meaning: Any
    score: float
    rule: str
    features: Features = ()
    children: tuple[Derivation, ...] = ()
    covered: int = 0
    extra: dict[str, Any] = field(default_factory=dict)
    walks: dict[int, Any] = field(default_factory=dict)

    def steps(self) -> Iterator[Derivation]:
        """Yield this step and those below it."""
        below = [self]
        while below:
            step = below.pop()
            yield step
            below += reversed(step.children)

    def all_features(self) -> dict[str, float]:
        """Return the features of the whole tree, summed."""
        found: dict[str, float] = {}
        for step in self.steps():
            for name, value in step.features:
                found[name] = found.get(name, 0.0) + value
        return found

    def rules(self) -> list[str]:
        """Return the ids of the rules and annotations of the whole tree, from the outermost inward."""
        return [step.rule for step in self.steps() if step.rule]

    def told(self, depth: int = 0) -> str:
        """Return the tree as lines of text, for traces."""
        line = "  " * depth + f"{self.category}[{self.start}:{self.end}] {self.rule} {self.score:.2f} {self.meaning}"
        return "\n".join([line, *(child.told(depth + 1) for child in self.children)])
