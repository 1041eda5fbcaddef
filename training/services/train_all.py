"""train_all: train what a pipeline uses, in order, and switch on only what held-out questions bear out.

The parts follow each other as the pipeline's stages do (`train_parts`). Each learner learns from searches with the
version that the parts before it have made, and those searches use models of the folds that have not seen the question
(`cross_fitting`). Then every question is searched with and without the new part, again by folds, and a paired test
decides (`judge_version`). A part that is not borne out leaves an artifact and a version that nobody uses, so that it
can still be promoted by hand.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from django.conf import settings as site

from search.domain.errors import Fault, InvalidRequest, pointer
from search.domain.run_context import RunContext
from search.models import KnowledgeBase, PipelineVersion
from search.services.pipelines.save_pipeline_version import activate_pipeline_version
from training import wiring
from training.data.examples import BadQuestions, Example
from training.data.splits import TRAIN, VAL, counts, refuse_splits
from training.models import QuestionSet
from training.services.find_release import find_release
from training.services.judge_version import Judged, Verdict, compare, judge_version
from training.services.question_sets import described_set
from training.services.synthesise import synthesised_questions
from training.services.train import train
from training.services.train_parts import LEARN, Part, parts_of_pipeline
from training.services.tune import tune

JUDGED = 1_000
"""Most questions by which a part is judged, evenly spaced over all."""
FEW, JUDGING_SEED = 300, 20_263
"""Number and seed of the synthesised questions that judge where nobody has asked any."""
BEFORE = "before"
_ENDED = "parts that ended"
"""Name of the note with the reports of the parts that have ended."""


@dataclass(frozen=True)
class Request:
    """What is trained for which knowledge base, from which questions, and how."""

    knowledge_base: str
    examples: Sequence[Example]
    pipeline: str = ""
    learners: Sequence[str] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)
    """Settings of the learners, as `{"learner.setting": value}`."""
    allow_val: bool = False
    judged: int = JUDGED
    question_set: QuestionSet | None = None
    release: str = ""
    synthesised: int = 0
    """Questions that each learner makes of the knowledge base and learns from too."""

    @property
    def named_pipeline(self) -> str:
        """The pipeline; the site's default if none is named."""
        return self.pipeline or str(site.GRASP_DEFAULT_PIPELINE)

    @property
    def asked(self) -> str:
        """The questions that judge, in words."""
        return "held-out questions" if self.examples else "synthesised questions of another seed"

    def parts(self) -> list[Part]:
        """Return what is trained and tuned, in order. Raises InvalidRequest."""
        return parts_of_pipeline(self.named_pipeline, self.learners)

    def check(self) -> None:
        """Raise InvalidRequest for unknown names and settings, BadQuestions for questions of other splits."""
        refuse_splits(self.examples, "Training", (TRAIN, VAL) if self.allow_val else (TRAIN,))
        parts = self.parts()
        trained = [part.of for part in parts if part.how == LEARN]
        others = {key.partition(".")[0]: key for key in self.settings}
        faults = [
            Fault(pointer("settings", key), f"{key[:80]!r} is of no learner that is trained: {', '.join(trained)}.")
            for learner, key in others.items() if learner not in trained
        ]  # fmt: skip
        if faults:
            raise InvalidRequest(faults)
        for learner in trained:
            wiring.checked_settings(learner, self.settings_of(learner))

    def settings_of(self, learner: str) -> dict[str, Any]:
        """Return the settings of one learner by name."""
        start = f"{learner}."
        return {key.removeprefix(start): value for key, value in self.settings.items() if key.startswith(start)}


@dataclass
class _State:
    """The version that the parts so far have made (None: the site's), and how good it is."""

    version: PipelineVersion | None
    judged: Judged


def train_all(request: Request, *, activate: bool = True, run: RunContext | None = None) -> dict[str, Any]:
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


def _begun(request: Request, base: KnowledgeBase, run: RunContext) -> tuple[Judged, _State]:
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
    first = _judged(request, version, run.part(BEFORE))
    state = _State(version, first)
    for report in run.notes.get(_ENDED) or []:
        if report["switched_on"]:
            version = _version(report["version"])
            state = _State(version, _judged(request, version, run.part(report["part"]).part("judging")))
    return first, state


def _version(pk: int | None) -> PipelineVersion | None:
    return PipelineVersion.objects.select_related("knowledge_base").get(pk=pk) if pk is not None else None


def _carried_out(request: Request, part: Part, state: _State, run: RunContext) -> dict[str, Any]:
    """Train or tune a part, judge the version with it, take that over into `state` if it is better, and report."""
    began = time.perf_counter()
    try:
        made, described = _made(request, part, state.version, run)
    except (BadQuestions, InvalidRequest) as error:
        return _left_out(part, str(error), began)
    if made is None:
        left = _left_out(part, described.pop("reason"), began)
        return {**left, "after": described.pop("held_out"), **described}
    after = _judged(request, made, run.part("judging"))
    verdict = compare(state.judged, after, request.asked)
    if part.how != LEARN:
        verdict = _as_tuned(verdict, described)
    report = {
        "part": part.name, "artifact": None, **described, **verdict.to_json(), "version": made.pk,
        "pipeline_version": made.version, "evaluation": after.evaluation,
        "evaluation_before": state.judged.evaluation, "seconds": round(time.perf_counter() - began, 2),
    }  # fmt: skip
    if verdict.better:
        state.version, state.judged = made, after
    return report


def _as_tuned(verdict: Verdict, described: dict[str, Any]) -> Verdict:
    """Return the verdict of the tuning itself: its figures are of folds that had no part in the choice."""
    return replace(
        verdict, better=True, reason=f"{described.pop('reason')} It is switched on.", before=described.pop("before"),
        after=described.pop("held_out"), comparisons=described.pop("comparisons"),
    )  # fmt: skip


def _made(
    request: Request, part: Part, on: PipelineVersion | None, run: RunContext
) -> tuple[PipelineVersion | None, dict[str, Any]]:
    """Return the version with the part (None if a tuning chose nothing), and what the report says about the part."""
    if part.how != LEARN and not request.examples:
        raise BadQuestions(["Weights are chosen on questions that people asked, and there are none."])
    if part.how == LEARN:
        report = train(
            kind=part.of, knowledge_base=request.knowledge_base, examples=request.examples,
            settings=request.settings_of(part.of), activate=False, allow_val=request.allow_val, run=run,
            question_set=request.question_set, release=request.release, on=on,
            synthesised=request.synthesised,
        )  # fmt: skip
        return _saved(request, report), {"artifact": report["artifact"], "table": report["table"]}
    report = tune(
        knowledge_base=request.knowledge_base, examples=_sample(request.examples, request.judged), split=None,
        pipeline=request.named_pipeline, activate=False, run=run, question_set=request.question_set, part=part.of,
        on=on,
    )  # fmt: skip
    described = {
        "reason": report["reason"], "surfaces": report["surfaces"], "options": report["after"]["options"],
        "before": report["before"]["metrics"], "held_out": report["held_out"]["metrics"],
        "comparisons": report["comparisons"], "tuning": report["evaluation"],
    }  # fmt: skip
    return (_saved(request, report) if report["pipeline_version"] else None), described


def _saved(request: Request, report: Mapping[str, Any]) -> PipelineVersion:
    return PipelineVersion.objects.select_related("knowledge_base").get(
        knowledge_base__name=request.knowledge_base, pipeline=report["pipeline"], version=report["pipeline_version"]
    )


def _left_out(part: Part, reason: str, began: float) -> dict[str, Any]:
    return {
        "part": part.name, "artifact": None, "switched_on": False, "reason": reason, "questions": 0, "before": {},
        "after": {}, "comparisons": [], "pipeline_version": None, "version": None,
        "seconds": round(time.perf_counter() - began, 2),
    }  # fmt: skip


def _judged(request: Request, version: PipelineVersion | None, run: RunContext) -> Judged:
    return judge_version(
        knowledge_base=request.knowledge_base, pipeline=request.named_pipeline, version=version,
        examples=_judging(request, run), release=request.release, question_set=request.question_set, run=run,
    )  # fmt: skip


def _judging(request: Request, run: RunContext) -> list[Example]:
    """Return the questions that judge: those of people or, where there are none, synthesised ones of another seed.

    A synthesised question that a learner has made too is not fair to it, so it is left out of the comparison.
    """
    if request.examples:
        return _sample(request.examples, request.judged)
    release = find_release(request.knowledge_base, request.release)
    silent = replace(run, progress=lambda part, done, total: run.check())
    return list(synthesised_questions(release, min(request.judged, FEW), JUDGING_SEED, silent).examples)


def _sample(examples: Sequence[Example], most: int) -> list[Example]:
    """Return at most `most` questions, evenly spaced over all."""
    step = max(1.0, len(examples) / most)
    return [examples[int(place * step)] for place in range(min(len(examples), most))]
