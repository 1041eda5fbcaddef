"""replay: repeat a recorded search, with the plans that were recorded, to see the lists whole that were cut."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, ParamSpec, TypeVar, cast

from search.composition import Pipeline
from search.domain.errors import StageError
from search.domain.fusion import Fusion
from search.domain.linking import GraphRanking, Traversal
from search.domain.payloads import Listed, Traversed
from search.domain.plan import ScoredPlan
from search.domain.question import Question
from search.domain.ranking import RECORDED_ENTRIES, Ranking
from search.domain.trace import Limit, Step, StepOutput, StepRole, Trace
from search.interfaces import NodeStore
from search.stages.recover.attempt import Attempt
from training.evaluation.lost.facts import Held, ListStep, RunFacts
from training.evaluation.lost.recorded import Recorded, RecordedStep, TypedStep, held, input_name, listed_of
from training.evaluation.lost.search_tools import SearchTools

P = ParamSpec("P")
R = TypeVar("R")


class _Enough(Exception):
    """Every wanted step has run."""


class ReplayTrace(Trace):
    """A trace that keeps the outputs of steps as objects, and stops the search after the last wanted step.

    `given` holds outputs, by the name of the step, that are returned without running the step.
    """

    def __init__(self, given: Mapping[str, object], wanted: Collection[str], limit: Limit) -> None:
        super().__init__(limit)
        self.outputs: dict[str, object] = {}
        self._given = given
        self._left = set(wanted)

    def step(self, name: str, role: StepRole, fn: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """Return the given output of a step, or run it. Raises what the step raises, and DeadlineExceeded."""
        step = Step(name, role, status="failed")
        self.steps.append(step)
        if name in self._given:
            result = cast(R, self._given[name])
        else:
            self.limit.check(name)
            result = fn(*args, **kwargs)
        step.status = "ok"
        self.outputs[name] = result
        self._left.discard(name)
        if not self._left:
            raise _Enough
        return result


@dataclass(frozen=True)
class ReplayedSearch:
    """A finished search: the question, its recorded steps and answer, and what is needed to repeat it."""

    question: Question
    steps: Sequence[RecordedStep]
    answer: Listed
    pipeline: Pipeline
    stages: Any
    tools: SearchTools


@dataclass(frozen=True)
class Repeated:
    """The lists of a search, whole where they were cut and could be had again.

    `traversed` maps the index of a plan to its candidates and to whether a limit cut them.
    """

    steps: tuple[ListStep, ...]
    answer: Held
    traversed: Mapping[int, tuple[Held, bool]]


def repeated(
    search: ReplayedSearch,
    recorded: Recorded,
    facts: RunFacts,
    keys: Mapping[str, int],
    due: Sequence[str],
    limit: Limit,
) -> Repeated:
    """Return the lists as recorded, or from a replay if one that was cut might hold one of the answers `due`.

    `keys` holds the key of each expected answer. A replayed list counts only if it begins as the recorded one did.
    Raises DeadlineExceeded and SearchCancelled.
    """
    entries = {entry.plan_index: entry for entry in recorded.found.entries}
    if recorded.recovery is not None:
        entries[recorded.recovery.plan_index] = recorded.recovery.traversal
    traversed = {
        index: (held(f"plan {index + 1}", entry.listed, facts.expected), entry.truncated)
        for index, entry in entries.items()
    }
    wanted = {step.name for step in facts.steps if step.role != "rerank" and _hides(step.output, due)}
    if any(_hides(listed, due) for listed, _ in traversed.values()):
        wanted |= {
            step.name for step in recorded.steps if step.role in ("graph", "recover") and step.payload is not None
        }
    if not wanted or recorded.problems:
        return Repeated(facts.steps, facts.answer, traversed)
    whole_lists = {step.name for step in facts.steps if step.role == "text list" and step.output.whole}
    outputs = _replayed(search, recorded, wanted, whole_lists - wanted, limit)
    whole = _Whole(search.tools.nodes, keys)
    steps = tuple(
        whole.step(step, typed, outputs.get(step.name)) for step, typed in zip(facts.steps, recorded.lists, strict=True)
    )
    again = {one.plan_index: one for one in _traversals(outputs)}
    return Repeated(
        steps,
        whole.answer(facts.answer, search.answer, steps, recorded.lists),
        {index: whole.candidates(*pair, entries[index], again.get(index)) for index, pair in traversed.items()},
    )


@dataclass(frozen=True)
class _Whole:
    """Reads the places of the expected answers off replayed lists."""

    nodes: NodeStore
    keys: Mapping[str, int]

    def step(self, step: ListStep, typed: TypedStep, output: object) -> ListStep:
        """Return a step with the places in its replayed list, unchanged if it was not replayed or gave another list."""
        if step.role == "rerank" or not isinstance(output, Ranking | Fusion | GraphRanking):
            return step
        if not self._same(output.ranking.keys, listed_of(typed.payload)):
            return step
        inputs = step.inputs
        if isinstance(output, Fusion):
            lists = {input_name(step.name, step.role, name): one for name, one in output.rankings.items()}
            inputs = tuple(self._held(old.name, lists[old.name].ranking) for old in step.inputs)
        return replace(step, output=self._held(step.name, output.ranking), inputs=inputs)

    def answer(self, answer: Held, listed: Listed, steps: Sequence[ListStep], recorded: Sequence[TypedStep]) -> Held:
        """Return the places in the final ranking: those of the last list, if the answer is that list."""
        if steps and listed_of(recorded[-1].payload).ids == listed.ids:
            return replace(steps[-1].output, name=answer.name)
        return answer

    def candidates(self, listed: Held, truncated: bool, entry: Traversed, again: Traversal | None) -> tuple[Held, bool]:
        """Return the places among a plan's replayed candidates, and whether a limit cut them."""
        if again is None or not self._same([candidate.key for candidate in again.candidates], entry.listed):
            return listed, truncated
        return self._held(listed.name, Ranking(again.candidates, len(again.candidates))), again.truncated

    def _held(self, name: str, ranking: Ranking) -> Held:
        ranks = ranking.ranks
        return Held(name, {one: ranks[key] for one, key in self.keys.items() if key in ranks}, len(ranking))

    def _same(self, keys: Sequence[int], listed: Listed) -> bool:
        return tuple(self.nodes.ids(keys[:RECORDED_ENTRIES])) == listed.ids


def _hides(listed: Held, due: Sequence[str]) -> bool:
    """Whether a list was cut in the record, and one of the answers may be in the part that is missing."""
    return not listed.whole and any(one not in listed.ranks for one in due)


def _replayed(
    search: ReplayedSearch, recorded: Recorded, wanted: Collection[str], known: Collection[str], limit: Limit
) -> dict[str, object]:
    """Return the outputs of the steps of a search by name, up to the last of the wanted steps.

    The lists of text named in `known` were recorded whole and are not made again. A step that fails has no output.
    """
    plans = [ScoredPlan(entry.plan, entry.source, entry.probability) for entry in recorded.plans.entries]
    given: dict[str, object] = {step.name: StepOutput(plans) for step in recorded.steps if step.role == "plan"}
    given |= {step.name: _text_list(step, search.tools.nodes) for step in search.steps if step.name in known}
    trace = ReplayTrace(given, wanted, limit)
    with suppress(_Enough, StageError):
        search.pipeline.search(search.question, search.stages, trace)
    return trace.outputs


def _text_list(step: RecordedStep, nodes: NodeStore) -> Ranking | Fusion:
    """Return the recorded list of a step as an object."""
    fused = "rankings" in step.output
    lists = [step.output["ranking"], *step.output["rankings"].values()] if fused else [step.output]
    ids = list(dict.fromkeys(one for listed in lists for one in listed["ids"]))
    key_of = {one: key for one, key in zip(ids, nodes.keys(ids), strict=True) if key is not None}
    return Fusion.from_json(step.output, key_of) if fused else Ranking.from_json(step.output, key_of)


def _traversals(outputs: Mapping[str, object]) -> Iterator[Traversal]:
    """Yield the traversals among replayed outputs; that of a changed plan comes last."""
    for output in outputs.values():
        if isinstance(output, list):
            yield from (one for one in output if isinstance(one, Traversal))
        elif isinstance(output, Attempt) and output.traversal is not None:
            yield output.traversal
