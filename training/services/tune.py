"""tune: ask validation questions, choose fusion's settings by their lists, and save them as a pipeline's version."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

from django.db import transaction

from search import wiring
from search.composition import Pipeline
from search.domain.errors import Fault, InvalidRequest, StageError
from search.domain.linking import GraphRanking
from search.domain.payloads import GraphListed, Listed, Payload, Unreadable, read_payload
from search.domain.ranking import Candidate, Ranking
from search.models import PipelineVersion, SearchRun, SearchStep
from search.services.code_version import code_version
from search.services.pipelines.save_pipeline_version import save_pipeline_version
from search.services.searches.pin import Pin, mixed
from search.services.searches.request_search import pin_searches
from search.stages.fuse import Fuse
from training.data.examples import BadQuestions, Example
from training.data.hashes import question_hash
from training.data.splits import TRAIN, VAL, refuse_split, refuse_splits
from training.evaluation.fused_ranks import Case
from training.evaluation.measures import Values, intervals, means
from training.evaluation.tuning import Tuning
from training.evaluation.tuning import tune as choose
from training.models import ChosenOptions, Evaluation, QuestionSet
from training.services.cross_fitting import CrossFitted, cross_fitted
from training.services.evaluate import MixedEvaluation, evaluation_of, search_pinned
from training.services.question_sets import described_set

Progress = Callable[[str, int, int], None]
BRANCH: frozenset[str] = frozenset({"plan", "link", "graph", "recover", "graph list"})
"""Roles of the steps whose failure leaves a search without a graph's list."""
FUSE = f"{Fuse.__module__}.{Fuse.__qualname__}"


class UnreadableLists(InvalidRequest):
    """A search that is done has not recorded the lists that tuning reads."""


@dataclass(frozen=True)
class _Lists:
    """The steps of a pipeline that tuning reads, by name: its fusion, and the two lists that go into it."""

    fusion: str
    graph: str
    text: str


@dataclass(frozen=True)
class _Asked:
    """The questions' lists, what their searches used, and how many searches failed."""

    cases: list[Case]
    present: Fuse
    errors: int


def tune(
    *,
    knowledge_base: str,
    examples: Sequence[Example],
    split: str | None,
    pipeline: str,
    activate: bool = True,
    progress: Progress | None = None,
    question_set: QuestionSet | None = None,
) -> dict[str, Any]:
    """Choose fusion's settings on these questions and return the report.

    Each question is searched once, recorded as an evaluation; its two lists, 100 deep, are what the grid is tried on.
    Release, settings and specification are decided once for all of them. Questions that the pipeline's artifacts have
    learned from are asked of what was learned without them, and `cross_fitted` counts them: a planner is surer of what
    it has seen, so that weights chosen there trust the graph too much. Where an artifact has not kept that, they are
    left out, and `left_out` counts them.

    Where cross-validation bears the choice out it becomes the pipeline's next version, in use at once with `activate`;
    where it does not, nothing is saved and `reason` says why.

    Raises BadQuestions for questions of other splits than train and val, or where all of them have to be left out;
    InvalidRequest with every fault of the request; StageError where the pipeline cannot be composed.
    """
    allowed = (TRAIN, VAL)
    refuse_split(split, "Tuning", allowed)
    refuse_splits(examples, "Tuning", allowed)
    lists = _lists_of(pipeline)
    pins = pin_searches(knowledge_base=knowledge_base, pipelines=[pipeline], settings={}, evaluation=uuid4())
    pin = pins[pipeline]
    crossed, kept = _askable(pin, examples)
    asked_of = [example for example, _ in kept]
    with evaluation_of(pins, asked_of, split, question_set, Evaluation.Purpose.TUNING) as evaluation:
        began = time.perf_counter()
        asked = _ask(pin, lists, kept, progress)
        if reason := mixed(pins, evaluation.id, {pipeline: crossed.specifications}):
            raise MixedEvaluation(reason)
        searched = time.perf_counter()
        tell = None if progress is None else lambda done, total: progress("weights", done, total)
        tuning = choose(asked.cases, asked.present, tell)
        seconds = {"searches": round(searched - began, 2), "weights": round(time.perf_counter() - searched, 2)}
        version = _save(pin, lists, tuning, asked_of, evaluation, activate) if tuning.decided else None
        left_out = len(examples) - len(kept)
        report = {
            "evaluation": str(evaluation.id),
            "knowledge_base": knowledge_base,
            "release": pin.release.name,
            "settings_version": pin.settings_version,
            "question_set": described_set(question_set),
            "split": split,
            "questions": len(kept),
            "cross_fitted": crossed.count,
            "left_out": left_out,
            "errors": asked.errors,
            "code_version": code_version(),
            "pipeline": pipeline,
            "pipeline_version": version.version if version else None,
            "active": version.active if version else False,
            "decided": tuning.decided,
            "reason": _about_learned(crossed.count, left_out) + tuning.reason,
            "before": {"options": _options(lists, asked.present)} | _described(tuning.before),
            "after": {"options": _options(lists, tuning.best)} | _described(tuning.after),
            "held_out": _described(tuning.held_out),
            "gain": _described({name: tuning.held_out[name] - tuning.before[name] for name in tuning.before}),
            "seconds": seconds,
        }
        evaluation.report = report
    return report


def _askable(pin: Pin, examples: Sequence[Example]) -> tuple[CrossFitted, list[tuple[Example, Pin]]]:
    """Return the questions that nothing in use for them has learned from, and what to ask each with.

    Raises BadQuestions where none is left.
    """
    crossed = cross_fitted(pin, examples)
    kept = [(example, own) for example, own in zip(examples, crossed.pins, strict=True) if own is not None]
    if not kept:
        raise BadQuestions(["All of these questions were learned from, so that nothing can be chosen by them."])
    return crossed, kept


def _about_learned(crossed: int, left_out: int) -> str:
    """Say what was done about questions that were learned from; an empty string where there were none."""
    said = f"{crossed:,} questions were asked of what was learned without them. " if crossed else ""
    return said + (f"{left_out:,} questions were learned from and left out. " if left_out else "")


def _lists_of(name: str) -> _Lists:
    """Return the steps that tuning reads, by their roles. Raises InvalidRequest for a pipeline that has others."""
    known = wiring.pipelines()
    if name not in known:
        message = f"There is no pipeline {name!r}. There are: {', '.join(known)}."
        raise InvalidRequest([Fault("/pipeline", message)])
    lists, reason = _readable(wiring.pipeline(name))
    if lists is None:
        others = [other for other in known if other != name and _readable(wiring.pipeline(other))[0]]
        reason += f" These can be tuned: {', '.join(others)}." if others else ""
        raise InvalidRequest([Fault("/pipeline", f"{name} cannot be tuned: {reason}")])
    return lists


def _readable(pipeline: Pipeline) -> tuple[_Lists | None, str]:
    """Return the steps that tuning reads, or a sentence about what the pipeline does not have."""
    stages = pipeline.specification()["stages"]
    fusions = [stage for stage in pipeline.of_role("fusion") if stages[stage]["BACKEND"] == FUSE]
    if len(fusions) != 1:
        return None, f"it has no stage {Fuse.__qualname__} whose weights could be chosen."
    graphs, texts, more = (pipeline.of_role(role) for role in ("graph list", "text list", "list"))
    if len(graphs) != 1:
        found = f"it has {len(graphs)} ({', '.join(graphs)})" if graphs else "it has none"
        return None, f"weights are chosen for one list of the role 'graph list', and {found}."
    if len(texts) != 1 or more:
        found = ", ".join([*texts, *more]) or "none"
        return None, f"weights are chosen for the graph's list beside one of the role 'text list', and it has: {found}."
    return _Lists(fusions[0], graphs[0], texts[0]), ""


def _ask(pin: Pin, lists: _Lists, questions: Sequence[tuple[Example, Pin]], progress: Progress | None) -> _Asked:
    """Search every question; one that cannot be searched has empty lists and stays in the mean.

    Raises UnreadableLists where a search is done and its lists cannot be read: tuning on nothing would say nothing.
    """
    cases: dict[int, Case] = {}
    errors = 0
    # One specification after the other, so that what a fold needs in memory is loaded once.
    order = sorted(range(len(questions)), key=lambda place: questions[place][1].specification_hash)
    for done, place in enumerate(order, 1):
        example, own = questions[place]
        graph, text = _listed(own, lists, example)
        errors += text is None
        cases[place] = case_of(example, graph, text)
        if progress is not None:
            progress("searches", done, len(questions))
    options: dict[str, Any] = dict(pin.specification["stages"][lists.fusion]["OPTIONS"])
    for name in ("bucket_weights", "risk_multipliers"):
        options[name] = tuple(options[name])
    return _Asked([cases[place] for place in range(len(questions))], Fuse(**options), errors)


def _listed(pin: Pin, lists: _Lists, example: Example) -> tuple[GraphListed | None, Listed | None]:
    """Search one question and return its two lists; None, None where it cannot be searched."""
    try:
        row = search_pinned(pin, example, k=1)  # One result is explained: only the lists are read.
        return _read(row, lists) if row.status == SearchRun.Status.DONE else (None, None)
    except UnreadableLists:
        raise
    except (InvalidRequest, StageError):
        return None, None


def _read(run: SearchRun, lists: _Lists) -> tuple[GraphListed | None, Listed]:
    """Return the two lists of a finished search; no graph's list where its branch failed, which the search says.

    Raises UnreadableLists where a step is missing, or its output is no list of its role.
    """
    steps = {step.name: step for step in run.steps.all()}
    graph, text = _payload(steps.get(lists.graph)), _payload(steps.get(lists.text))
    failed = any(step.status in ("degraded", "failed") and step.role in BRANCH for step in steps.values())
    if not isinstance(graph, GraphListed) and not (graph is None and failed):
        raise _unreadable(run, lists.graph)
    if not isinstance(text, Listed):
        raise _unreadable(run, lists.text)
    return graph, text


def _payload(step: SearchStep | None) -> Payload | None:
    try:
        return None if step is None else read_payload(step.role, step.output, step.version)
    except Unreadable as error:
        message = f"Tuning cannot read the list of the stage {step.name!r}: {error}" if step else str(error)
        raise UnreadableLists([Fault("/pipeline", message)]) from error


def _unreadable(run: SearchRun, stage: str) -> UnreadableLists:
    message = f"A finished search of {run.pipeline} has no list of the stage {stage!r}: there is nothing to tune on."
    return UnreadableLists([Fault("/pipeline", message)])


def case_of(example: Example, graph: GraphListed | None, text: Listed | None) -> Case:
    """Return a question's lists as tuning compares them; None stands for a list that there is not, which is empty."""
    listed, texts = graph.listed if graph else Listed(), text or Listed()
    names = tuple(sorted({*listed.ids, *texts.ids}, key=lambda name: name.encode("utf-8")))
    key_of = {name: key for key, name in enumerate(names)}
    keys = [key_of[name] for name in listed.ids]
    ranking = GraphRanking()
    if graph is not None:
        ranking = GraphRanking(
            _ranking(keys, listed.scores),
            ties={key: cosine for key, cosine in zip(keys, graph.ties, strict=True) if cosine is not None},
            n_cand=graph.n_cand,
            risk_level=graph.risk_level,
            probability=graph.probability,
        )
    return Case(
        example.id, ranking, _ranking([key_of[name] for name in texts.ids], texts.scores), names, example.answers
    )


def _ranking(keys: Sequence[int], scores: Sequence[float]) -> Ranking:
    return Ranking.in_order(Candidate(key, score) for key, score in zip(keys, scores, strict=True))


def _save(
    pin: Pin, lists: _Lists, tuning: Tuning, examples: Sequence[Example], evaluation: Evaluation, activate: bool
) -> PipelineVersion:
    """Save the best settings as the pipeline's next version, with the questions that they were chosen on."""
    where = f" of split {evaluation.split}" if evaluation.split else ""
    options = _options(lists, tuning.best)
    with transaction.atomic():
        version = save_pipeline_version(
            knowledge_base=pin.release.knowledge_base,
            pipeline=pin.pipeline,
            options=options,
            note=f"Fusion tuned on {len(examples):,} questions{where}. {tuning.reason}",
            activate=activate,
        )
        ChosenOptions.objects.create(
            pipeline_version=version, part="fusion", options=options, question_set=evaluation.question_set,
            split=evaluation.split, hashes=sorted({question_hash(example) for example in examples}),
            evaluation=evaluation,
        )  # fmt: skip
    return version


def _options(lists: _Lists, fuse: Fuse) -> dict[str, Any]:
    """Return the settings that the method reads, as a pipeline's options."""
    names = ("k", "weight", "lead") if fuse.method == "static" else ("k", "bucket_weights", "risk_multipliers", "lead")
    values = {name: getattr(fuse, name) for name in ("method", *names)}
    return {f"{lists.fusion}.{name}": list(v) if isinstance(v, tuple) else v for name, v in values.items()}


def _described(values: Values) -> dict[str, Any]:
    return {"metrics": means(values), "intervals": intervals(values)}
