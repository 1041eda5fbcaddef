"""tune: ask validation questions, choose fusion's settings by their lists, and save them as a pipeline's version."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.module_loading import import_string

from search import wiring
from search.domain.errors import Fault, InvalidRequest, StageError
from search.domain.fusion import Fusion
from search.domain.linking import GraphRanking
from search.domain.ranking import Ranking
from search.models import KnowledgeBase, PipelineVersion, SearchRun
from search.services.code_version import code_version
from search.services.pipelines.save_pipeline_version import save_pipeline_version
from search.services.searches.request_search import request_search
from search.services.searches.run_search import run_search
from search.stages.fuse import Weighing
from training.data.examples import Example
from training.data.splits import refuse_test
from training.evaluation.fused_ranks import Case
from training.evaluation.measures import Values, intervals, means
from training.evaluation.tuning import Tuning
from training.evaluation.tuning import tune as choose

Progress = Callable[[str, int, int], None]
FUSION = "fuse"
"""The step that fuses: it holds the lists, how far they are to be trusted, and the cosines that order equal scores."""


@dataclass(frozen=True)
class _Asked:
    """The questions' lists, what their searches used, and how many searches failed."""

    cases: list[Case]
    present: Weighing
    errors: int


def tune(
    *,
    knowledge_base: str,
    examples: Sequence[Example],
    split: str | None,
    pipeline: str,
    activate: bool = True,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Choose fusion's settings on these questions and return the report.

    Each question is searched once, recorded as an evaluation; its two lists, 100 deep, are what the grid is tried on.
    Where cross-validation bears the choice out it becomes the pipeline's next version, in use at once with `activate`;
    where it does not, nothing is saved and `reason` says why.

    Raises BadQuestions for a test split and InvalidRequest with every fault of the request.
    """
    for named in {split, *(example.split for example in examples)}:
        refuse_test(named, "Tuning")
    _check_pipeline(pipeline)
    probe = _request(knowledge_base, examples[0].text[:2000], pipeline, "")
    SearchRun.objects.filter(pk=probe.pk).delete()
    began = time.perf_counter()
    asked = _ask(probe, examples, progress)
    searched = time.perf_counter()
    tell = None if progress is None else lambda done, total: progress("weights", done, total)
    tuning = choose(asked.cases, asked.present, tell)
    seconds = {"searches": round(searched - began, 2), "weights": round(time.perf_counter() - searched, 2)}
    version = _save(probe, tuning, len(examples), split, activate) if tuning.decided else None
    return {
        "knowledge_base": knowledge_base,
        "release": probe.release_name,
        "split": split,
        "questions": len(examples),
        "errors": asked.errors,
        "code_version": code_version(),
        "pipeline": pipeline,
        "pipeline_version": version.version if version else None,
        "active": version.active if version else False,
        "decided": tuning.decided,
        "reason": tuning.reason,
        "before": {"options": _options(asked.present)} | _described(tuning.before),
        "after": {"options": _options(tuning.best)} | _described(tuning.after),
        "held_out": _described(tuning.held_out),
        "gain": _described({name: tuning.held_out[name] - tuning.before[name] for name in tuning.before}),
        "seconds": seconds,
    }


def _check_pipeline(name: str) -> None:
    """Refuse a pipeline that does not fuse the graph's list with the text's."""
    known = wiring.pipelines()
    tunable = [other for other in known if _weighs(wiring.row(other)["STAGES"].get("fuse"))]
    if name not in known:
        message = f"There is no pipeline {name!r}. There are: {', '.join(known)}."
    elif name not in tunable:
        message = f"{name} does not fuse the graph's list with the text's, so it has no weights to choose."
        message += f" These do: {', '.join(tunable)}." if tunable else ""
    else:
        return
    raise InvalidRequest([Fault("/pipeline", message)])


def _weighs(stage: Mapping[str, Any] | None) -> bool:
    """Whether a stage lays one list over another with the settings that are chosen here."""
    return stage is not None and issubclass(import_string(stage["BACKEND"]), Weighing)


def _request(knowledge_base: str, question: str, pipeline: str, purpose: str) -> SearchRun:
    # One result is explained: only the lists are read.
    return request_search(
        knowledge_base=knowledge_base, question=question, pipeline=pipeline, k=1,
        origin=SearchRun.Origin.EVALUATION, purpose=purpose[:200], enqueue=False,
    )  # fmt: skip


def _ask(probe: SearchRun, examples: Sequence[Example], progress: Progress | None) -> _Asked:
    """Search every question; one that cannot be searched has empty lists and stays in the mean."""
    cases, errors = [], 0
    for done, example in enumerate(examples, 1):
        output: Mapping[str, Any] | None = None
        try:
            row = run_search(_request(probe.knowledge_base_name, example.text, probe.pipeline, example.id).pk)
            if row.status == SearchRun.Status.DONE:
                output = row.steps.filter(name=FUSION).values_list("output", flat=True).first()
        except (InvalidRequest, StageError):
            output = None
        errors += output is None
        cases.append(case_of(example, output))
        if progress is not None:
            progress("searches", done, len(examples))
    options: dict[str, Any] = dict(probe.specification["stages"]["fuse"]["OPTIONS"])
    for name in ("bucket_weights", "risk_multipliers"):
        options[name] = tuple(options[name])
    return _Asked(cases, Weighing(**options), errors)


def case_of(example: Example, output: Mapping[str, Any] | None) -> Case:
    """Read the graph's list and the text's off the output of the fusion; empty lists where there is none."""
    if output is None:
        return Case(example.id, GraphRanking.empty(), Ranking(), (), example.answers, {})
    ids = {identifier for listed in output["rankings"].values() for identifier in listed["ids"]}
    ids.update(output["ranking"]["ids"])
    names = tuple(sorted(ids, key=lambda name: name.encode("utf-8")))
    fusion = Fusion.from_json(output, {name: key for key, name in enumerate(names)})
    [(trusted, trust)] = fusion.trust.items()
    [text] = [listed.ranking for name, listed in fusion.rankings.items() if name != trusted]
    graph = GraphRanking(fusion.rankings[trusted].ranking, trust, name=trusted)
    return Case(example.id, graph, text, names, example.answers, fusion.cosines)


def _save(probe: SearchRun, tuning: Tuning, questions: int, split: str | None, activate: bool) -> PipelineVersion:
    where = f" of split {split}" if split else ""
    return save_pipeline_version(
        knowledge_base=KnowledgeBase.objects.get(name=probe.knowledge_base_name),
        pipeline=probe.pipeline,
        options=_options(tuning.best),
        note=f"Fusion tuned on {questions:,} questions{where}. {tuning.reason}",
        activate=activate,
    )


def _options(fuse: Weighing) -> dict[str, Any]:
    """Return the settings that the method reads, as a pipeline's options."""
    if fuse.method == "static":
        return {"fuse.method": "static", "fuse.k": fuse.k, "fuse.weight": fuse.weight, "fuse.lead": fuse.lead}
    return {
        "fuse.method": "dynamic",
        "fuse.k": fuse.k,
        "fuse.bucket_weights": list(fuse.bucket_weights),
        "fuse.risk_multipliers": list(fuse.risk_multipliers),
        "fuse.lead": fuse.lead,
    }


def _described(values: Values) -> dict[str, Any]:
    return {"metrics": means(values), "intervals": intervals(values)}
