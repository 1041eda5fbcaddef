"""found: search training questions as users' searches do, up to the reranker, with models that have not seen them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Any, ParamSpec, TypeVar

from django.conf import settings as site

from search import wiring
from search.domain.errors import DeadlineExceeded
from search.domain.question import Question
from search.domain.run_context import RunContext
from search.domain.trace import Limit, Step, StepRole, Trace
from search.models import PipelineVersion, Release
from search.services.searches.check_request import check_question
from search.services.searches.pin import Pin, PipelineChoice
from search.services.searches.pin_searches import pin_searches
from training.data.examples import Example
from training.learning.task import Finder, FoundOfTask, TaskReader, Unsearched
from training.services.cross_fitting import cross_fitted
from training.services.evaluations.processes import Started, processes_for

P = ParamSpec("P")
R = TypeVar("R")
Composed = tuple[Callable[..., object], Any]
"""A pipeline's function, and the stages that it is called with."""
ANSWERER = "training.services.found.ReadingAnswerer"
NO_RERANKER = "none"
"""Name of the variant without a reranker, in stages of the role `rerank`."""


class _Handed(Exception):
    """The search has come to the explanation, whose first four arguments are those of the reranker."""

    def __init__(self, arguments: tuple[Any, ...]) -> None:
        super().__init__()
        self.arguments = arguments


class _UpToReranker(Trace):
    """A trace that keeps no outputs, and ends the search where its results would be explained."""

    def step(self, name: str, role: StepRole, fn: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """Return the result of a step. Raises _Handed instead of explaining, and whatever the step raises."""
        self.limit.check(name)
        if role == "explain":
            raise _Handed(args)
        self.steps.append(Step(name, role))
        return fn(*args, **kwargs)


class Searcher:
    """Searches questions by their place, each with its pin. It can be sent to another process."""

    def __init__(self, pins: Sequence[Pin | None], texts: Sequence[str]) -> None:
        self._pins = pins
        self._texts = texts
        self._composed: tuple[str, Composed] | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_composed": None}

    def __call__(self, place: int, limit: Limit) -> FoundOfTask | None:
        """Search the question at a place (task.Finder). Each search has the time that users' searches have."""
        pin = self._pins[place] if 0 <= place < len(self._pins) else None
        if pin is None:
            raise KeyError(place)
        text = self._texts[place]
        if check_question(text):
            return None
        search, stages = self._stages(pin)
        trace = _UpToReranker(Limit.seconds(min(site.GRASP_SEARCH_SECONDS, limit.remaining()), limit.cancelled))
        try:
            search(Question(text), stages, trace)
        except _Handed as handed:
            question, fusion, plans, checked, *_ = handed.arguments
            return FoundOfTask(question, fusion, plans, checked)
        except DeadlineExceeded:
            limit.check("search")
        return None

    def reading(self, place: int, reader: TaskReader, limit: Limit) -> Any:
        """Return what a reader keeps of the search for the question at a place; None if the search fails."""
        found = self(place, limit)
        pin = self._pins[place]
        return None if found is None or pin is None else reader(found, wiring.tools(pin.release, pin.settings_version))

    def _stages(self, pin: Pin) -> Composed:
        """Return the pipeline's function and stages; those used last are kept."""
        hashed = pin.specification_hash
        if self._composed is None or self._composed[0] != hashed:
            pipeline = wiring.pipeline(pin.pipeline)
            tools = wiring.tools(pin.release, pin.settings_version)
            self._composed = hashed, (pipeline.search, pipeline.compose(dict(pin.specification), tools))
        return self._composed[1]


class ReadingAnswerer:
    """Searches and reads in another process (`serve`): its tasks are places."""

    def __init__(self, parts: tuple[Searcher, TaskReader]) -> None:
        self._searcher, self._reader = parts

    def compose(self) -> dict[int, tuple[str, str, bool]]:
        """Do nothing: models are loaded by the first search that uses them."""
        return {}

    def ask(self, place: int, cancelled: Callable[[], bool]) -> tuple[int, Any]:
        """Return the place, and what was read of its search."""
        return place, self._searcher.reading(place, self._reader, Limit(cancelled=cancelled))


class SearchFinder:
    """Searches questions with a version of a pipeline (task.Finder).

    The version is read at the first use, because most learners search nothing.
    """

    def __init__(self, release: Release, choice: PipelineChoice, examples: Sequence[Example]) -> None:
        self._release = release
        self._choice = choice
        self._examples = examples

    @cached_property
    def places(self) -> Sequence[int]:
        """The places of the questions that have a pin, sorted by their specification, then by place."""
        there = [(pin.specification_hash, place) for place, pin in enumerate(self._pins) if pin is not None]
        return [place for _, place in sorted(there)]

    @cached_property
    def fingerprint(self) -> str:
        """The release, the version of its settings, and the specifications of the searches."""
        used = sorted({pin.specification_hash for pin in self._pins if pin is not None})
        versions = {pin.settings_version for pin in self._pins if pin is not None}
        return f"{self._release.pk} {sorted(versions)} {' '.join(used)}"

    def __call__(self, place: int, limit: Limit) -> FoundOfTask | None:
        """Search the question at a place; see the protocol."""
        return self._searcher(place, limit)

    def read(self, places: Sequence[int], reader: TaskReader, run: RunContext) -> Iterator[tuple[int, Any]]:
        """Search questions, many of them in as many processes as there are processors; see the protocol."""
        processes = processes_for(len(places))
        if processes <= 1:
            for place in places:
                run.check()
                yield place, self._searcher.reading(place, reader, run.limit)
            return
        started = Started(processes, ANSWERER)
        try:
            started.compose((self._searcher, reader), run)
            yield from started.ask(places, run)
        finally:
            started.end()

    @cached_property
    def _searcher(self) -> Searcher:
        return Searcher(self._pins, [example.text for example in self._examples])

    @cached_property
    def _pins(self) -> Sequence[Pin | None]:
        """The specification of each question; None where no model has been kept that has not seen it."""
        pins = pin_searches(
            knowledge_base=self._release.knowledge_base.name, pipelines=[self._choice], settings={},
            release=self._release.name,
        )  # fmt: skip
        return cross_fitted(pins[self._choice.pipeline], self._examples).pins


def found_by(release: Release, pipeline: str, examples: Sequence[Example], on: PipelineVersion | None = None) -> Finder:
    """Return a finder that searches these questions of a release with a version of a pipeline, without its reranker.

    `on` is the version; None means the active one. For a pipeline without a reranker it is a finder without questions.
    Its first use raises InvalidRequest when the version no longer fits the site.
    """
    described = wiring.pipeline(pipeline)
    rerankers = described.of_role("rerank")
    if not rerankers:
        return Unsearched()
    variants = described.variants()
    without = {stage: NO_RERANKER for stage in rerankers if NO_RERANKER in variants.get(stage, ())}
    return SearchFinder(release, PipelineChoice(pipeline, on.version if on else None, without), examples)
