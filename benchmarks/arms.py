"""Many specifications of pipelines over the same questions, where what several of them share is computed once.

A stage that has the same options as another arm's, and gets the same inputs, gives its result again instead of
computing it. So an ablation of twenty arms costs about as much as five. Its figures are those of single searches; its
times are sums of the times that the stages took when they were computed.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import orjson
from django.conf import settings

from search import wiring
from search.domain.errors import DeadlineExceeded, SearchError, StageError
from search.domain.question import Question
from search.domain.trace import Limit, Trace
from search.models import Release
from search.models.timeouts import bounded
from search.services.searches.pin import PipelineChoice
from search.services.searches.pin_searches import pin_searches
from training.data.examples import Example
from training.evaluation.measures import DEPTH, Values, measure

EXPLAIN = "explain"
"""The stage that an ablation leaves out, because it changes no order."""


@dataclass
class Shared:
    """What the stages gave for one question: the inputs, which are kept so that no other object gets their id."""

    known: dict[tuple[Any, ...], tuple[tuple[Any, ...], Any, float]] = field(default_factory=dict)


@dataclass(frozen=True)
class Memo:
    """A stage that gives known results again. `told` is its options as text."""

    stage: Any
    told: bytes
    shared: Shared
    arm: list[float]

    @property
    def backend(self) -> str:
        """The name of the stage."""
        return type(self.stage).__name__

    def __getattr__(self, name: str) -> Any:
        """Return what else a pipeline asks of the stage, such as whether it has anything to do."""
        return getattr(self.stage, name)

    def __call__(self, *given: Any) -> Any:
        """Return the stage's result; raises what it raised for these inputs."""
        key = (self.told, *map(_identity, given))
        if key not in self.shared.known:
            began = time.perf_counter()
            result: Any
            try:
                result = self.stage(*given)
            except DeadlineExceeded:
                raise
            except StageError as error:
                result = error
            self.shared.known[key] = given, result, time.perf_counter() - began
        _, result, seconds = self.shared.known[key]
        self.arm[0] += seconds
        if isinstance(result, StageError):
            raise result
        return result


def _identity(value: Any) -> Any:
    """Return what decides whether an input is the same as another arm's."""
    if isinstance(value, Limit | Trace):
        return None
    return value.told if isinstance(value, Memo) else id(value)


@dataclass(frozen=True)
class Answered:
    """The measures of an arm, one value for each question, and its times in seconds."""

    values: Values
    seconds: list[float]
    failed: int


def answered(knowledge_base: str, choices: Mapping[str, str], examples: Sequence[Example]) -> dict[str, Answered]:
    """Return the measures of each arm by its title; a choice is a text such as `grasp rerank=none`.

    Arms whose specification is the same as an earlier one's are left out. Raises InvalidRequest, StageError.
    """
    parsed = {title: PipelineChoice.parse(choice) for title, choice in choices.items()}
    named = {title: dataclasses.replace(choice, label=title) for title, choice in parsed.items()}
    pins = pin_searches(knowledge_base=knowledge_base, pipelines=[*named.values()], settings={})
    first: dict[str, str] = {}
    for title in named:
        first.setdefault(pins[title].specification_hash + pins[title].pipeline, title)
    shown = list(first.values())
    rankings: dict[str, dict[str, list[str]]] = {title: {} for title in shown}
    seconds: dict[str, list[float]] = {title: [] for title in shown}
    failed = dict.fromkeys(shown, 0)
    composed = {title: _composed(pins[title]) for title in shown}
    nodes = wiring.tools(pins[shown[0]].release).nodes
    for example in examples:
        question, shared = Question(example.text), Shared()
        for title in shown:
            search, stages, specification = composed[title]
            taken = [0.0]
            wrapped = _wrapped(stages, specification, shared, taken)
            trace = Trace(Limit.seconds(settings.GRASP_SEARCH_SECONDS))
            try:
                with bounded("search", trace.limit):
                    keys = search(question, wrapped, trace).keys[:DEPTH]
            except SearchError:
                failed[title] += 1
                continue
            rankings[title][example.id] = nodes.ids(list(keys))
            seconds[title].append(taken[0])
    answers = {example.id: example.answers for example in examples}
    return {title: Answered(measure(rankings[title], answers), seconds[title], failed[title]) for title in shown}


def _composed(pin: Any) -> tuple[Callable[..., Any], Any, Mapping[str, Any]]:
    """Return the pipeline's function, its stages, and the specification."""
    release: Release = pin.release
    pipeline = wiring.pipeline(pin.pipeline)
    specification = dict(pin.specification)
    return pipeline.search, pipeline.compose(specification, wiring.tools(release, pin.settings_version)), specification


def _wrapped(stages: Any, specification: Mapping[str, Any], shared: Shared, taken: list[float]) -> Any:
    """Return the stages, each of which gives again what is known; nothing is explained."""
    changed = {}
    for one in dataclasses.fields(stages):
        stage = getattr(stages, one.name)
        if stage is not None:
            row = orjson.dumps([one.name, specification["stages"][one.name]], option=orjson.OPT_SORT_KEYS, default=str)
            changed[one.name] = Memo(_unexplained if one.name == EXPLAIN else stage, row, shared, taken)
    return dataclasses.replace(stages, **changed)


def _unexplained(*_: Any) -> list[Any]:
    """Explain nothing."""
    return []
