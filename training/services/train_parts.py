"""train_parts: what of a pipeline can be learned or chosen, in the order in which its searches use it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.conf import settings

from search import wiring as search_wiring
from search.domain.errors import Fault, InvalidRequest, nearest
from training import wiring
from training.services.tuned_lists import FINAL, STAGE_2, lists_of

LEARN, TUNE = "learn", "tune"


@dataclass(frozen=True)
class TrainPart:
    """A part of a pipeline: its name, how it is made (LEARN or TUNE), and the learner or the fusion that makes it."""

    name: str
    how: str
    of: str


def parts_of_pipeline(pipeline: str, learners: Sequence[str] = ()) -> list[TrainPart]:
    """Return the parts in the order of the pipeline's stages: a part learns from what the parts before it find.

    `learners` are the learners to train; if empty, all of the pipeline except those that a row of `GRASP_LEARNERS`
    marks ON_REQUEST, because they take long. A fusion is tuned after the learners of the stages before it; the final
    one only if a learner of its stage is trained. Raises InvalidRequest for a pipeline or a learner that is not there.
    """
    known = search_wiring.pipelines()
    if pipeline not in known:
        message = f"There is no pipeline {pipeline[:80]!r}. There are: {', '.join(known)}."
        raise InvalidRequest([Fault("/pipeline", message, nearest(pipeline, known))])
    chosen = _chosen(pipeline, learners)
    parts: list[TrainPart] = []
    for stage in search_wiring.pipeline(pipeline).flow:
        own = [name for name in chosen if wiring.option_of(name)[1].partition(".")[0] == stage.name]
        # The light ranker before the neural one: what takes long learns from what the quick one leaves.
        own.sort(key=on_request)
        parts += [TrainPart(name, LEARN, name) for name in own]
        if stage.role == "fusion" and _tunable(pipeline, STAGE_2):
            parts.append(TrainPart("fusion", TUNE, STAGE_2))
        if stage.role == "rerank" and any(_mixed(pipeline, stage.name, name) for name in own):
            parts.append(TrainPart("final fusion", TUNE, FINAL))
    return parts


def _chosen(pipeline: str, learners: Sequence[str]) -> list[str]:
    mine = [name for name in wiring.learners() if wiring.option_of(name)[0] == pipeline]
    wrong = [
        Fault("/learners", f"{name[:80]!r} is no learner of {pipeline}; there are: {', '.join(mine) or 'none'}.",
              nearest(name, mine))
        for name in learners if name not in mine
    ]  # fmt: skip
    if wrong:
        raise InvalidRequest(wrong)
    if learners:
        return [name for name in mine if name in learners]
    return [name for name in mine if not on_request(name)]


def on_request(learner: str) -> bool:
    """Return whether a learner is trained only if it is named."""
    return bool(settings.GRASP_LEARNERS[learner].get("ON_REQUEST"))


def _mixed(pipeline: str, stage: str, learner: str) -> bool:
    """Return whether a variant of a stage takes a learner's artifact, and fuses its list with the one before it."""
    if not _tunable(pipeline, FINAL):
        return False
    known = search_wiring.pipeline(pipeline).settings_schema()["properties"]
    every = known.get(stage, {}).get("enum", [])
    named = (wiring.option_of(learner)[1], f"{stage}.weight", f"{stage}.k")
    if any(name not in known for name in named):
        return False
    return bool(set.intersection(*(set(known[name].get("variants", every)) for name in named)))


def _tunable(pipeline: str, part: str) -> bool:
    try:
        lists_of(pipeline, part)
    except InvalidRequest:
        return False
    return True
