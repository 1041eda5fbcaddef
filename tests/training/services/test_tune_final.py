"""The final fusion, of a reranker's list with the list before it, is tuned on held-out questions, with its surface."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest
from pytest_django.fixtures import Settings

from search.domain.errors import InvalidRequest
from search.domain.flow import stage
from search.domain.fusion import Fusion
from search.domain.options import option
from search.domain.question import Question
from search.domain.ranking import Ranking, by_key
from search.domain.trace import Trace
from search.models import KnowledgeBase, PipelineVersion
from tests.rankings import ranked
from tests.search import strange
from training.data.examples import Example
from training.models import ChosenOptions
from training.services.tune import tune

pytestmark = pytest.mark.django_db
EXAMPLES = [Example(f"q{at}", f"film/2 please, number {at}", ("film/1",), "val") for at in range(24)]


@dataclass(frozen=True, kw_only=True)
class Polishing(strange.Walking):
    """A list of the graph and one of text, fused, and then reranked."""

    polish: Any = stage("rerank", "Polish", "Polishing", optional=True)


def polishing(question: Question, stages: Polishing, trace: Trace) -> Ranking:
    """Answer with two lists and a reranker."""
    walks = trace.step("wander", "graph list", stages.wander, question, trace.limit)
    shelves = trace.step("peruse", "text list", stages.peruse, question, trace.limit)
    fusion = trace.step("blend", "fusion", stages.blend, question, walks, shelves, trace.limit)
    fusion = trace.step("polish", "rerank", stages.polish, question, fusion)
    trace.step("tell", "explain", stages.tell, question, fusion, walks)
    return fusion.ranking


@dataclass(frozen=True)
class Polish:
    """A reranker that reverses the first two, and leaves questions about `sure` things as they are."""

    weight: float = option(-1.0, "Weight of the reranker; -1: a tenth.", low=-1, high=1)
    k: float = option(-1.0, "Constant; -1: 2.", low=-1, high=1_000)

    def __call__(self, question: Question, fusion: Fusion) -> Fusion:
        if "sure" in question.text:
            return fusion
        weight, k = (0.1 if self.weight < 0 else self.weight), (2.0 if self.k < 0 else self.k)
        first, second = fusion.ranking.keys[:2]
        lists = {"reranker": ranked({second: 2.0, first: 1.0}), "fusion": fusion.ranking}
        return Fusion.of(lists, {"reranker": weight, "fusion": 1 - weight}, k, by_key)


@pytest.fixture
def town(films: KnowledgeBase, settings: Settings) -> KnowledgeBase:
    """The films, where the reranker is right and the list before it is wrong."""
    walking = strange.PIPELINES["walking"]
    stages = {**walking["STAGES"], "polish": {"BACKEND": f"{__name__}.Polish"}}
    row = {**walking, "BACKEND": f"{__name__}.polishing", "STAGES_CLASS": f"{__name__}.Polishing", "STAGES": stages}
    settings.GRASP_PIPELINES = {**strange.PIPELINES, "polishing": row}
    settings.GRASP_DEFAULT_PIPELINE = "polishing"
    return films


def tuned(examples: list[Example] = EXAMPLES, pipeline: str = "polishing", **more: Any) -> dict[str, Any]:
    return tune(
        knowledge_base="films", examples=examples, split="val", pipeline=pipeline, **{"part": "final", **more}
    )  # fmt: skip


def test_a_reranker_that_is_right_gets_the_weight(town: KnowledgeBase) -> None:
    report = tuned()
    # The reranker's tenth does not reverse film/2 and film/1.
    assert (report["before"]["metrics"]["H@1"], report["before"]["options"]) == (
        0.0, {"polish.weight": 0.1, "polish.k": 2.0},
    )  # fmt: skip
    assert (report["held_out"]["metrics"]["H@1"], report["decided"]) == (100.0, True)
    # At weight 0.5 both films have the same sum, and the order is that of the ids: film/1 first.
    assert report["after"]["options"]["polish.weight"] == 0.5
    version = PipelineVersion.objects.get()
    assert (version.options, version.note[:12]) == (report["after"]["options"], "Final fusion")
    assert ChosenOptions.objects.get().part == "final"
    assert tuned()["decided"] is False


def test_the_surface_has_the_share_of_questions_that_each_cell_answers(town: KnowledgeBase) -> None:
    sure = [Example(f"s{at}", f"sure film/2, number {at}", ("film/2",), "val") for at in range(6)]
    [surface] = tuned([*EXAMPLES, *sure])["surfaces"]
    assert (surface["method"], len(surface["k"]), len(surface["weight"])) == ("static", 9, 21)
    # Whatever the weight, the six sure questions of thirty are answered; the others from 0.5 on.
    assert [row[0] for row in surface["H@1"]] == [20.0] * 9
    assert [row[20] for row in surface["H@1"]] == [100.0] * 9
    assert all(row[9] == 20.0 < row[10] == 100.0 for row in surface["H@1"])
    assert surface["in_use"] is None or surface["weight"][surface["in_use"][1]] == 0.1
    assert surface["weight"][surface["chosen"][1]] == 0.5


def test_a_pipeline_without_a_reranker_has_no_final_fusion(town: KnowledgeBase) -> None:
    with pytest.raises(InvalidRequest, match="The final fusion of walking cannot be tuned: it has no reranker"):
        tuned(pipeline="walking")


def test_a_version_is_tuned_on_top_of_its_own_options(town: KnowledgeBase) -> None:
    first = PipelineVersion.objects.create(
        knowledge_base=town, pipeline="polishing", version=1, options={"wander.steps": 4}
    )
    report = tuned(on=first, activate=False)
    version = PipelineVersion.objects.get(version=2)
    assert version.options == {"wander.steps": 4, **report["after"]["options"]}
    assert not version.active
