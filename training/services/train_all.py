"""train_all: train what a pipeline uses, in order, and switch on only what held-out questions bear out.

The parts follow each other as the pipeline's stages do (`train_parts`). Each learner learns from searches with the
version that the parts before it have made, and those searches use models of the folds that have not seen the question
(`cross_fitting`). Then every question is searched with and without the new part, again by folds, and a paired test
decides (`judge_version`). A part that is not borne out leaves an artifact and a version that nobody uses, so that it
can still be promoted by hand.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from search.domain.errors import InvalidRequest
from search.domain.run_context import RunContext
from search.models import KnowledgeBase, PipelineVersion
from search.services.pipelines.save_pipeline_version import activate_pipeline_version
from training.data.examples import BadQuestions
from training.data.splits import counts
from training.evaluation.verdict import DECIDING, SWITCHED_ON, ComparisonVerdict
from training.services.judge_learner import JUDGING, judge_learner, judged
from training.services.judge_version import JudgedVersion, compare
from training.services.question_sets import described_set
from training.services.train import BEFORE, train
from training.services.train_parts import LEARN, TrainPart
from training.services.train_request import TrainRequest, judging, sample
from training.services.tune import tune

_ENDED = "parts that ended"
"""Name of the note with the reports of the parts that have ended."""


@dataclass
class _State:
    """The version that the parts so far have made (None: the site's), and how good it is."""

    version: PipelineVersion | None
    judged: JudgedVersion


def train_all(request: TrainRequest, *, activate: bool = True, run: RunContext | None = None) -> dict[str, Any]:
    """Train every part, activate the version with all that is borne out (unless told not to), and return the report.

    `parts` of the report say what each part gained, on how many held-out questions, with interval and p, and why it was
    or was not switched on. Work that was interrupted goes on with the part, the training or the search where it was.

    Raises BadQuestions and InvalidRequest as `train` does; RunCancelled and LeaseLost. A part whose learner refuses the
    questions, because they are too few for it, is left out and says so.
    """
    request.check()
    run = run or RunContext()
    began = time.perf_counter()
    base = KnowledgeBase.objects.get(name=request.knowledge_base)
    first, state = _begun(request, base, run)
    reports: list[dict[str, Any]] = list(run.notes.get(_ENDED) or [])
    for part in request.parts()[len(reports) :]:
        run.check()
        report = _carried_out(request, part, state, run.part(part.name))
        reports.append(report)
        with run.fenced():
            run.notes.put(_ENDED, reports)
    on = [report["part"] for report in reports if report["switched_on"]]
    with run.fenced():
        if on and activate and state.version is not None:
            activate_pipeline_version(state.version)
    whole = compare(first, state.judged, request.asked) if on else None
    version = state.version
    return {
        "knowledge_base": request.knowledge_base,
        "question_set": described_set(request.question_set),
        "questions": len(request.examples),
        "synthesised": request.synthesised,
        "judged_on": request.asked,
        "splits": counts(request.examples),
        "pipeline": request.named_pipeline,
        "pipeline_version": version.version if version else 0,
        "active": bool(version and PipelineVersion.objects.get(pk=version.pk).active),
        "switched_on": on,
        "artifacts": {report["part"]: report["artifact"] for report in reports if report.get("artifact")},
        "parts": reports,
        "metrics": whole.to_json() if whole else {"before": {}, "after": {}},
        "evaluation": state.judged.evaluation,
        "seconds": round(time.perf_counter() - began, 2),
    }


def _begun(request: TrainRequest, base: KnowledgeBase, run: RunContext) -> tuple[JudgedVersion, _State]:
    """Return how good the version in use was, and the state after the parts that ended in an attempt before.

    The active version is looked up once: another activation meanwhile changes nothing.
    """
    known: Mapping[str, Any] | None = run.notes.get(BEFORE)
    if known is None:
        active = PipelineVersion.objects.filter(
            knowledge_base=base, pipeline=request.named_pipeline, active=True
        ).first()  # fmt: skip
        known = {"version": active.pk if active else None}
        with run.fenced():
            run.notes.put(BEFORE, known)
    version = _version(known["version"])
    first = judged(request, version, judging(request, run), run.part(BEFORE))
    state = _State(version, first)
    for report in run.notes.get(_ENDED) or []:
        if report["switched_on"] and report.get("trial"):
            state.version = _version(report["version"])
        elif report["switched_on"]:
            version = _version(report["version"])
            again = run.part(report["part"]).part(JUDGING)
            state = _State(version, judged(request, version, judging(request, again), again))
    return first, state


def _version(pk: int | None) -> PipelineVersion | None:
    return PipelineVersion.objects.select_related("knowledge_base").get(pk=pk) if pk is not None else None


def _carried_out(request: TrainRequest, part: TrainPart, state: _State, run: RunContext) -> dict[str, Any]:
    """Train or tune a part, judge the version with it, take that over into `state` if it is better, and report."""
    began = time.perf_counter()
    try:
        if part.how == LEARN:
            return _learned(request, part, state, began, run)
        made, described = _tuned(request, part, state.version, run)
    except (BadQuestions, InvalidRequest) as error:
        return _left_out(part, str(error), began)
    if made is None:
        left = _left_out(part, described.pop("reason"), began)
        return {**left, "after": described.pop("held_out"), **described}
    after = judged(request, made, judging(request, run), run.part(JUDGING))
    verdict = _as_tuned(compare(state.judged, after, request.asked), described)
    report = {
        "part": part.name, "artifact": None, **described, **verdict.to_json(), "version": made.pk,
        "pipeline_version": made.version, "evaluation": after.evaluation,
        "evaluation_before": state.judged.evaluation, "seconds": round(time.perf_counter() - began, 2),
    }  # fmt: skip
    if verdict.better:
        state.version, state.judged = made, after
    return report


def _learned(request: TrainRequest, part: TrainPart, state: _State, began: float, run: RunContext) -> dict[str, Any]:
    """Train a learner, take it over into `state` if it is better, and report.

    Nothing after a trial can be judged on questions that it has learned from, so `state` keeps the figures from before.
    """
    on = state.version

    def make(asked: TrainRequest, run: RunContext) -> tuple[PipelineVersion, dict[str, Any]]:
        report = train(
            kind=part.of, knowledge_base=asked.knowledge_base, examples=asked.examples,
            settings=asked.settings_of(part.of), activate=False, allow_val=asked.allow_val, run=run,
            question_set=asked.question_set, release=asked.release, on=on, synthesised=asked.synthesised,
        )  # fmt: skip
        return _saved(asked, report), {"artifact": report["artifact"], "table": report["table"]}

    found = judge_learner(request, part.of, state.judged, make, run)
    report = {
        "part": part.name, **found.report, **found.verdict.to_json(), "version": found.version.pk,
        "pipeline_version": found.version.version, "evaluation": found.after.evaluation if found.after else "",
        "evaluation_before": state.judged.evaluation, "seconds": round(time.perf_counter() - began, 2),
    } | ({"trial": True} if found.trial else {})  # fmt: skip
    if found.verdict.better:
        state.version = found.version
        if not found.trial and found.after:
            state.judged = found.after
    return report


def _as_tuned(whole: ComparisonVerdict, described: dict[str, Any]) -> ComparisonVerdict:
    """Return the verdict of the tuning itself, whose figures are of folds that had no part in the choice.

    If whole searches are worse, what comes after the fusion needs the weights that it had.
    """
    fallen = [one["metric"] for one in whole.comparisons if one["metric"] in DECIDING and one["difference"] < 0]
    tuned = replace(
        whole, better=True, reason=f"{described.pop('reason')} {SWITCHED_ON}", before=described.pop("before"),
        after=described.pop("held_out"), comparisons=described.pop("comparisons"),
    )  # fmt: skip
    return tuned.refused(f"{' and '.join(fallen)} of whole searches fell") if fallen else tuned


def _tuned(
    request: TrainRequest, part: TrainPart, on: PipelineVersion | None, run: RunContext
) -> tuple[PipelineVersion | None, dict[str, Any]]:
    """Return the version with the tuned fusion (None if nothing was chosen), and what the report says about it."""
    if not request.examples:
        raise BadQuestions(["Weights are chosen on questions that people asked, and there are none."])
    report = tune(
        knowledge_base=request.knowledge_base, examples=sample(request.examples, request.judged), split=None,
        pipeline=request.named_pipeline, activate=False, run=run, question_set=request.question_set, part=part.of,
        on=on,
    )  # fmt: skip
    described = {
        "reason": report["reason"], "surfaces": report["surfaces"], "options": report["after"]["options"],
        "before": report["before"]["metrics"], "held_out": report["held_out"]["metrics"],
        "comparisons": report["comparisons"], "tuning": report["evaluation"],
    }  # fmt: skip
    return (_saved(request, report) if report["pipeline_version"] else None), described


def _saved(request: TrainRequest, report: Mapping[str, Any]) -> PipelineVersion:
    return PipelineVersion.objects.select_related("knowledge_base").get(
        knowledge_base__name=request.knowledge_base, pipeline=report["pipeline"], version=report["pipeline_version"]
    )


def _left_out(part: TrainPart, reason: str, began: float) -> dict[str, Any]:
    return {
        "part": part.name, "artifact": None, "switched_on": False, "reason": reason, "questions": 0, "before": {},
        "after": {}, "comparisons": [], "pipeline_version": None, "version": None,
        "seconds": round(time.perf_counter() - began, 2),
    }  # fmt: skip
