"""The rules that choose what a queue holds, with their arguments; `training.services.annotation` runs them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from search.domain.errors import Fault, InvalidRequest, nearest, pointer
from training.evaluation.lost.stages import LostStage

LOST, DISAGREEMENT, FEEDBACK, MARGIN, RANDOM = "lost", "disagreement", "feedback", "margin", "random"
SAVED, TASKS = "saved", "tasks"
RULES = (LOST, DISAGREEMENT, FEEDBACK, MARGIN, RANDOM, SAVED, TASKS)
WITHOUT_EVALUATION = (FEEDBACK, SAVED, TASKS)
KINDS = ("right", "wrong", "missing")
MOST_DEPTH = 100
"""Results of a ranking that an evaluation keeps."""
MOST_SEARCHES, MOST_SAVED = 4, 100
SPREAD = 10
"""A margin is measured in units of the distance between the scores at the ranks 1 and `SPREAD`."""
TAKES: Mapping[str, Sequence[str]] = {
    LOST: ("evaluations", "pipelines", "stages", "depth", "per_question"),
    DISAGREEMENT: ("evaluations", "pipelines", "searches", "depth", "per_question"),
    FEEDBACK: ("kinds", "per_question"),
    MARGIN: ("evaluations", "pipelines", "margin"),
    RANDOM: ("evaluations", "pipelines", "depth"),
    SAVED: ("saved", "depth"),
    TASKS: ("tasks", "file", "depth"),
}
"""The arguments that each rule takes; those of `TASKS` are read by `training.data.tasks` before."""


@dataclass(frozen=True)
class RuleArguments:
    """What a rule looks at; each rule takes some of these.

    `evaluations` are one or two evaluations, `pipelines` the labels looked at (empty: all of them), `searches` two to
    four single searches of one question, `saved` saved searches by the ids of their searches. `stages` are those that
    lost the answers (empty: any). `depth` is the length of the top of a ranking, `per_question` the largest number of
    candidates of one question and one kind. `margin` is the largest margin between the first and the second score.
    `kinds` are those of the feedback (empty: all).
    """

    evaluations: tuple[UUID, ...] = ()
    pipelines: tuple[str, ...] = ()
    searches: tuple[UUID, ...] = ()
    saved: tuple[UUID, ...] = ()
    stages: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    depth: int = 5
    per_question: int = 3
    margin: float = 0.1
    given: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def parse(cls, rule: str, given: Mapping[str, Any]) -> RuleArguments:
        """Return the arguments of a rule from JSON. Raises InvalidRequest with every fault."""
        if rule not in RULES:
            message = f"A rule is one of: {', '.join(RULES)}; not {rule[:80]!r}."
            raise InvalidRequest([Fault("/rule", message, nearest(rule, RULES))])
        takes = TAKES[rule]
        told = {key: value for key, value in given.items() if value not in (None, "", [], ())}
        faults = [
            Fault(pointer("arguments", key), f"The rule {rule} takes no {key[:80]!r}; it takes: {', '.join(takes)}.",
                  nearest(key, takes))
            for key in told if key not in takes
        ]  # fmt: skip
        read = _Reader(told, faults)
        arguments = cls(
            read.ids("evaluations", 2), read.texts("pipelines"), read.ids("searches", MOST_SEARCHES),
            read.ids("saved", MOST_SAVED), read.texts("stages", [stage.value for stage in LostStage]),
            read.texts("kinds", KINDS),
            read.whole("depth", 5 if rule != RANDOM else 20, MOST_DEPTH),
            read.whole("per_question", 1 if rule == LOST else 3, MOST_DEPTH),
            read.number("margin", 0.1), told,
        )  # fmt: skip
        if rule == DISAGREEMENT and arguments.searches and arguments.evaluations:
            faults.append(Fault("/arguments/searches", "Give either searches or evaluations, not both."))
        if rule == SAVED and not arguments.saved and not faults:
            faults.append(Fault("/arguments/saved", "Choose at least one saved search."))
        if rule not in WITHOUT_EVALUATION and not (arguments.evaluations or arguments.searches) and not faults:
            faults.append(Fault("/arguments/evaluations", f"The rule {rule} needs an evaluation to look at."))
        if len(arguments.searches) == 1:
            faults.append(Fault("/arguments/searches", "One search alone disagrees with nobody; give two to four."))
        if faults:
            raise InvalidRequest(faults)
        return arguments


@dataclass(frozen=True)
class _Reader:
    """Reads arguments of JSON; what is wrong is added to `faults`, and the default is returned."""

    given: Mapping[str, Any]
    faults: list[Fault]

    def texts(self, name: str, known: Sequence[str] = ()) -> tuple[str, ...]:
        """Return a list of texts, each once; with `known`, only these are allowed."""
        value = self.given.get(name, [])
        value = [value] if isinstance(value, str) else value
        if not isinstance(value, list | tuple) or not all(isinstance(one, str) for one in value):
            self._fault(name, f"{name} is a list of texts.")
            return ()
        for one in value:
            if known and one not in known:
                message = f"{name} are some of: {', '.join(known)}; not {one[:80]!r}."
                self.faults.append(Fault(pointer("arguments", name), message, nearest(one, known)))
        return tuple(dict.fromkeys(value))

    def ids(self, name: str, most: int) -> tuple[UUID, ...]:
        """Return a list of at most `most` ids."""
        try:
            found = tuple(UUID(one) for one in self.texts(name))
        except ValueError:
            self._fault(name, f"{name} are ids, as the addresses of their pages have them.")
            return ()
        if len(found) > most:
            self._fault(name, f"{name} are at most {most}.")
        return found[:most]

    def whole(self, name: str, default: int, most: int) -> int:
        """Return a whole number from 1 to `most`."""
        value = self.given.get(name, default)
        if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= most:
            self._fault(name, f"{name} is a whole number from 1 to {most}.")
            return default
        return value

    def number(self, name: str, default: float) -> float:
        """Return a number from 0 to 1."""
        value = self.given.get(name, default)
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
            self._fault(name, f"{name} is a number from 0 to 1.")
            return default
        return float(value)

    def _fault(self, name: str, message: str) -> None:
        self.faults.append(Fault(pointer("arguments", name), message))
