"""Tuning reads lists by their role, whatever a pipeline calls them, and refuses what it cannot read."""

from __future__ import annotations

from typing import Any

import pytest
from pytest_django.fixtures import Settings

from search.domain.errors import InvalidRequest, StageError
from search.models import KnowledgeBase
from tests.search import small, strange
from training.data.examples import Example
from training.services.tune import tune

pytestmark = pytest.mark.django_db
EXAMPLES = [Example(f"q{number}", f"film/2 please, number {number}", ("film/2",), "val") for number in range(24)]


@pytest.fixture
def town(films: KnowledgeBase, settings: Settings) -> KnowledgeBase:
    """The films, searched by pipelines that have nothing of GRASP; the graph finds film/2 first, the text film/1."""
    settings.GRASP_PIPELINES = strange.PIPELINES
    settings.GRASP_DEFAULT_PIPELINE = "walking"
    return films


def tuned(pipeline: str, examples: list[Example] = EXAMPLES) -> dict[str, Any]:
    return tune(knowledge_base="films", examples=examples, split="val", pipeline=pipeline)


def refused(pipeline: str) -> str:
    with pytest.raises(InvalidRequest) as raised:
        tuned(pipeline)
    return raised.value.faults[0].message


def test_a_pipeline_with_its_own_names_is_tuned_on_its_own_lists(town: KnowledgeBase) -> None:
    report = tuned("walking")
    assert (report["errors"], report["questions"]) == (0, 24)
    # The plan is of risk `normal` and finds two films: weight 2.0 times 1.25 puts film/2 first already.
    assert report["before"]["metrics"]["H@1"] == 100.0
    assert report["before"]["options"].keys() == {
        "blend.method", "blend.k", "blend.bucket_weights", "blend.risk_multipliers", "blend.lead",
    }  # fmt: skip


def test_its_choice_is_saved_under_the_name_of_its_own_fusion(town: KnowledgeBase, settings: Settings) -> None:
    stages = strange.PIPELINES["walking"]["STAGES"]
    timid = stages | {"blend": stages["blend"] | {"OPTIONS": {"method": "static", "weight": 0.0}}}
    settings.GRASP_PIPELINES = strange.PIPELINES | {"walking": strange.PIPELINES["walking"] | {"STAGES": timid}}
    report = tuned("walking")
    assert (report["before"]["metrics"]["H@1"], report["after"]["metrics"]["H@1"]) == (0.0, 100.0)
    assert (report["decided"], report["pipeline_version"]) == (True, 1)
    assert all(name.startswith("blend.") for name in report["after"]["options"])


def test_a_pipeline_without_a_list_of_the_graph_is_refused_with_a_sentence(town: KnowledgeBase) -> None:
    assert refused("shuffling") == (
        "shuffling cannot be tuned: weights are chosen for one list of the role 'graph list', and it has none. "
        "These can be tuned: walking."
    )


def test_a_pipeline_with_a_fusion_of_its_own_is_refused_with_a_sentence(town: KnowledgeBase) -> None:
    assert refused("wandering") == (
        "wandering cannot be tuned: it has no stage Fuse whose weights could be chosen. These can be tuned: walking."
    )


def test_a_list_that_a_pipeline_does_not_record_is_an_error_and_not_an_empty_case(
    town: KnowledgeBase, settings: Settings
) -> None:
    silent = strange.PIPELINES["walking"] | {"BACKEND": "tests.search.strange.silently_walking"}
    settings.GRASP_PIPELINES = {"walking": silent}
    assert refused("walking") == ("A finished search of walking has no two lists of the stage 'blend' to tune on.")


def test_a_search_that_failed_is_counted_and_stays_in_the_mean(town: KnowledgeBase) -> None:
    def away(limit: object) -> None:
        raise StageError("wander", "the street is closed")

    small.HOOKS[f"graph: {EXAMPLES[0].text}"] = away
    report = tuned("walking")
    assert report["errors"] == 1
    assert report["before"]["metrics"]["H@1"] == pytest.approx(100 * 23 / 24, abs=0.01)
