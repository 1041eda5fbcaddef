"""The lists that tuning reads: which steps of a pipeline make them, and what a finished search has recorded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.module_loading import import_string

from search import wiring
from search.composition import Pipeline
from search.domain.errors import Fault, InvalidRequest
from search.domain.linking import GraphRanking
from search.domain.payloads import Fused, Listed, Payload, UnreadablePayload, read_payload
from search.domain.ranking import Candidate, Ranking
from search.domain.trust import Trust
from search.models import SearchRun, SearchStep
from search.stages.fuse import FusionWeights
from training.data.examples import Example
from training.evaluation.fused_ranks import RankCase


class UnreadableLists(InvalidRequest):
    """A finished search has not recorded the lists that tuning reads."""


STAGE_2, FINAL = PARTS = ("fusion", "final")
"""The fusions that can be tuned: the graph's list with the text's, and the reranker's list with that fusion."""
RERANKER = "reranker"
"""Name of the reranker's list in the output of a step of the role `rerank`; the other one is the list before it."""


@dataclass(frozen=True)
class Lists:
    """The names of the steps that tuning reads: the fusion and its two input lists; and which fusion it is (PARTS).

    For the final fusion, `graph` is the reranker's list and `text` the list before it.
    """

    fusion: str
    graph: str
    text: str
    part: str = STAGE_2


def check_tunable(pipeline: str, part: str = STAGE_2) -> None:
    """Raise InvalidRequest when the pipeline has no weights that could be chosen."""
    lists_of(pipeline, part)


def lists_of(name: str, part: str = STAGE_2) -> Lists:
    """Return the steps that tuning reads, found by role. Raises InvalidRequest when the pipeline cannot be tuned."""
    known = wiring.pipelines()
    if name not in known:
        message = f"There is no pipeline {name!r}. There are: {', '.join(known)}."
        raise InvalidRequest([Fault("/pipeline", message)])
    if part == FINAL:
        pipeline = wiring.pipeline(name)
        stages = [stage for stage in pipeline.of_role("rerank") if mixes(pipeline, stage)]
        if len(stages) != 1:
            message = f"The final fusion of {name} cannot be tuned: it has no reranker whose weight could be chosen."
            raise InvalidRequest([Fault("/pipeline", message)])
        return Lists(stages[0], RERANKER, STAGE_2, FINAL)
    lists, reason = _readable(wiring.pipeline(name))
    if lists is None:
        others = [other for other in known if other != name and _readable(wiring.pipeline(other))[0]]
        reason += f" These can be tuned: {', '.join(others)}." if others else ""
        raise InvalidRequest([Fault("/pipeline", f"{name} cannot be tuned: {reason}")])
    return lists


def _readable(pipeline: Pipeline) -> tuple[Lists | None, str]:
    """Return the steps that tuning reads, or None and a sentence that says why the pipeline cannot be tuned."""
    stages = pipeline.specification()["stages"]
    fusions = [stage for stage in pipeline.of_role("fusion") if _weighs(stages[stage])]
    if len(fusions) != 1:
        return None, "it has no stage Fuse whose weights could be chosen."
    graphs, texts, more = (pipeline.of_role(role) for role in ("graph list", "text list", "list"))
    if len(graphs) != 1:
        found = f"it has {len(graphs)} ({', '.join(graphs)})" if graphs else "it has none"
        return None, f"weights are chosen for one list of the role 'graph list', and {found}."
    if len(texts) != 1 or more:
        found = ", ".join([*texts, *more]) or "none"
        return None, f"weights are chosen for the graph's list beside one of the role 'text list', and it has: {found}."
    return Lists(fusions[0], graphs[0], texts[0]), ""


def mixes(pipeline: Pipeline, stage: str) -> bool:
    """Return whether any variant of a stage fuses its list with the list before it, with `weight` and `k`."""
    options = pipeline.options()
    return f"{stage}.weight" in options and f"{stage}.k" in options


def check_weighed(specification: Mapping[str, Any], lists: Lists) -> None:
    """Raise InvalidRequest when the chosen variant of the reranker has no weight; the fusion of stage 2 always has."""
    options = specification["stages"][lists.fusion]["OPTIONS"]
    if lists.part == FINAL and not {"weight", "k"} <= set(options):
        variant = specification["stages"][lists.fusion].get("VARIANT", "")
        message = f"The version reranks with the variant {variant!r} of {lists.fusion}, which has no weight to choose."
        raise InvalidRequest([Fault("/pipeline", message)])


def final_weights(fused: Mapping[str, Any], seen: Sequence[Fused]) -> FusionWeights:
    """Return the settings of the final fusion: those of its options (`fused`), or if they leave it open, those used.

    A weight or k below 0 means: as the reranker says. `seen` are the recorded fusions of the searches.
    """
    used = next((one for one in seen if RERANKER in one.rankings), None)
    weight, k = float(fused["weight"]), float(fused["k"])
    if used is not None:
        weight = used.weights[RERANKER] if weight < 0 else weight
        k = used.k if k < 0 else k
    usual = FusionWeights()
    return FusionWeights(
        method="static", k=usual.k if k < 0 else k, weight=usual.weight if weight < 0 else weight, lead=usual.lead
    )


def _weighs(stage: Mapping[str, Any]) -> bool:
    """Return whether a stage is a fusion with the settings that tuning chooses."""
    return issubclass(import_string(stage["BACKEND"]), FusionWeights)


def read_fusion(run: SearchRun, lists: Lists) -> Fused:
    """Return the fusion of a finished search: its lists, how far they are to be trusted, and their cosines.

    Raises UnreadableLists when the step is missing, or its output is not a fusion of two lists.
    """
    fused = _payload(next((step for step in run.steps.all() if step.name == lists.fusion), None))
    if lists.part == FINAL:
        if isinstance(fused, Fused):
            return fused
        message = f"A finished search of {run.pipeline} has no output of the stage {lists.fusion!r} to tune on."
        raise UnreadableLists([Fault("/pipeline", message)])
    if not isinstance(fused, Fused) or len(fused.trust) != 1 or len(fused.rankings) != 2:
        message = f"A finished search of {run.pipeline} has no two lists of the stage {lists.fusion!r} to tune on."
        raise UnreadableLists([Fault("/pipeline", message)])
    return fused


def _payload(step: SearchStep | None) -> Payload | None:
    try:
        return None if step is None else read_payload(step.role, step.output, step.version)
    except UnreadablePayload as error:
        message = f"Tuning cannot read the list of the stage {step.name!r}: {error}" if step else str(error)
        raise UnreadableLists([Fault("/pipeline", message)]) from error


def case_of(example: Example, fused: Fused | None, part: str = STAGE_2) -> RankCase:
    """Return a question's lists in the form that tuning uses. None means a failed search and gives empty lists.

    A search whose reranker left everything as it was has only its final list, which no weight changes.
    """
    if fused is None:
        return RankCase(example.id, GraphRanking.empty(), Ranking(), (), example.answers, {})
    left = part == FINAL and RERANKER not in fused.rankings
    every = [fused.ranking] if left else list(fused.rankings.values())
    names = tuple(sorted({i for listed in every for i in listed.ids}, key=lambda name: name.encode("utf-8")))
    key_of = {name: key for key, name in enumerate(names)}
    known = {
        key_of[name]: cosine
        for listed in every
        for name, cosine in (zip(listed.ids, listed.cosines, strict=True) if listed.cosines is not None else ())
        if cosine is not None
    }
    if left:
        return RankCase(
            example.id, GraphRanking.empty(), _ranking(fused.ranking, key_of), names, example.answers, known
        )
    if part == FINAL:
        trusted, trust = RERANKER, Trust(len(fused.rankings[RERANKER].ids), "normal", 0.0)
    else:
        [(trusted, trust)] = fused.trust.items()
    [text] = [listed for name, listed in fused.rankings.items() if name != trusted]
    graph = GraphRanking(_ranking(fused.rankings[trusted], key_of), trust, name=trusted)
    return RankCase(example.id, graph, _ranking(text, key_of), names, example.answers, known)


def _ranking(listed: Listed, key_of: Mapping[str, int]) -> Ranking:
    pairs = zip(listed.ids, listed.scores, strict=True)
    return Ranking.in_order(Candidate(key_of[name], score) for name, score in pairs)
