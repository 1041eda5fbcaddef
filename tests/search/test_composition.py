"""Variants of a stage: one is chosen, its options are checked, those of another are refused with its name."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import pytest

from search import wiring
from search.composition import Pipeline
from search.domain.errors import InvalidRequest
from search.domain.options import option
from search.models import KnowledgeBase, PipelineVersion
from search.models.pipelines import specification_hash
from search.services.pipelines.document_pipelines import document_pipelines
from search.services.pipelines.list_pipelines import list_pipelines
from search.services.pipelines.save_pipeline_version import save_pipeline_version

HYBRID, BM25 = "search.stages.retrieve.Hybrid", "search.stages.retrieve.Bm25"


def grasp() -> Pipeline:
    return wiring.pipeline("grasp")


def faults(*layers: dict[str, Any]) -> list[tuple[str, str]]:
    with pytest.raises(InvalidRequest) as raised:
        grasp().specification(*layers)
    return [(fault.pointer, fault.message) for fault in raised.value.faults]


def test_without_a_choice_the_sites_variant_runs() -> None:
    stages = grasp().specification()["stages"]
    assert stages["retrieve"] == {
        "VARIANT": "hybrid",
        "BACKEND": HYBRID,
        "OPTIONS": {"depth": 100, "k": 60.0, "method": "scores", "words": 8.0},
    }
    assert stages["rerank"] == {"VARIANT": "none", "BACKEND": None, "OPTIONS": {}}


@pytest.mark.parametrize("chosen", ["hybrid", "bm25", "vss"])
def test_a_choice_changes_specification_and_hash(chosen: str) -> None:
    specification = grasp().specification({"retrieve": chosen, "retrieve.depth": 7})
    assert specification["stages"]["retrieve"]["VARIANT"] == chosen
    assert specification["stages"]["retrieve"]["OPTIONS"]["depth"] == 7
    same = specification_hash(specification) == specification_hash(grasp().specification({"retrieve.depth": 7}))
    assert same == (chosen == "hybrid")


def test_an_option_of_another_variant_is_refused_with_its_name() -> None:
    assert faults({"retrieve": "bm25", "retrieve.k": 5}) == [
        (
            "/settings/retrieve.k",
            "retrieve.k belongs to the variant hybrid of retrieve, and bm25 is chosen; set retrieve=hybrid to use it.",
        )
    ]


def test_options_of_the_chosen_variant_are_checked_as_ever() -> None:
    said = [message for _, message in faults({"retrieve": "bm25", "retrieve.depth": 0, "retrieve.deep": 1})]
    assert said[0] == "retrieve.depth must be between 1 and 1000, not 0."
    assert said[1].startswith("grasp has no setting 'retrieve.deep'")


@pytest.mark.parametrize("value", ["bm26", 5, None, ["bm25"]])
def test_a_variant_that_does_not_exist_is_refused_with_those_that_do(value: object) -> None:
    [(pointer, message)] = faults({"retrieve": value})
    assert pointer == "/settings/retrieve"
    assert message.startswith("retrieve is one of hybrid, bm25, vss, mfar, not")


def test_a_choice_takes_the_options_of_what_it_replaces_with_it() -> None:
    version = {"retrieve.k": 5.0, "retrieve.depth": 20, "fuse.k": 9.0}
    stages = grasp().specification(version, {"retrieve": "bm25"})["stages"]
    assert stages["retrieve"] == {"VARIANT": "bm25", "BACKEND": BM25, "OPTIONS": {"depth": 100}}
    assert stages["fuse"]["OPTIONS"]["k"] == 9.0
    kept = grasp().specification(version, {"retrieve": "hybrid"})["stages"]["retrieve"]["OPTIONS"]
    assert kept == {"depth": 20, "k": 5.0, "method": "scores", "words": 8.0}


def test_the_schema_offers_the_variants_and_says_whose_an_option_is() -> None:
    properties = grasp().settings_schema()["properties"]
    assert properties["retrieve"]["enum"] == ["hybrid", "bm25", "vss", "mfar"]
    assert properties["retrieve"]["default"] == "hybrid"
    assert properties["retrieve.k"]["variants"] == ["hybrid"]
    assert "variants" not in properties["retrieve.depth"]
    assert properties["rerank"]["enum"] == ["none", "light", "neural", "light_neural"]


def test_a_variant_without_a_stage_composes_to_none() -> None:
    class Anything:
        def __getattr__(self, name: str) -> object:
            return name

    stages = grasp().compose(grasp().specification({"retrieve": "bm25"}), Anything())
    assert (stages.rerank, type(stages.retrieve).__name__) == (None, "Bm25")


def test_a_specification_that_was_frozen_before_there_were_variants_is_still_composed() -> None:
    class Anything:
        def __getattr__(self, name: str) -> object:
            return name

    old = grasp().specification()
    old["stages"]["retrieve"] = {"BACKEND": HYBRID, "OPTIONS": {"depth": 5, "k": 1.0}}
    del old["stages"]["rerank"]
    stages = grasp().compose(old, Anything())
    assert (stages.rerank, stages.retrieve.depth) == (None, 5)


def test_the_page_of_the_documentation_shows_variants() -> None:
    page = document_pipelines()
    assert "`retrieve` (text list; one of hybrid, bm25, vss, mfar)" in page
    assert "| `retrieve` | `hybrid`, `bm25`, `vss`, `mfar` |" in page
    assert "the less the first places count. Only of hybrid. |" in page


@pytest.mark.django_db
def test_a_version_may_hold_a_choice_and_a_later_one_change_it() -> None:
    base = KnowledgeBase.objects.create(name="b")
    save_pipeline_version(knowledge_base=base, pipeline="grasp", options={"retrieve.k": 5.0, "fuse.k": 9.0})
    changed = save_pipeline_version(knowledge_base=base, pipeline="grasp", options={"retrieve": "bm25"})
    assert changed.options == {"fuse.k": 9.0, "retrieve": "bm25"}
    with pytest.raises(InvalidRequest, match="belongs to the variant hybrid"):
        save_pipeline_version(knowledge_base=base, pipeline="grasp", options={"retrieve.k": 5.0})
    assert PipelineVersion.objects.count() == 2
    [row] = [row for row in list_pipelines(base) if row["name"] == "grasp"]
    assert row["settings_schema"]["properties"]["retrieve"]["default"] == "bm25"


@dataclass(frozen=True)
class Light:
    """A reranker with one artifact."""

    artifact: str = option("", "The light one.")
    depth: int = option(100, "How many.")


@dataclass(frozen=True)
class Both(Light):
    """A reranker with two artifacts."""

    neural: str = option("", "The neural one.")


def reranked() -> Pipeline:
    variants = {"none": None, "light": {"BACKEND": f"{__name__}.Light"}, "both": {"BACKEND": f"{__name__}.Both"}}
    rows = {**grasp().rows, "rerank": {"VARIANTS": variants, "DEFAULT": "none"}}
    return replace(grasp(), rows=rows)


def test_an_artifact_of_another_variant_switches_to_it_and_keeps_what_both_have() -> None:
    pipeline = reranked()
    switch = {"light": "both", "*": "both"}
    none: dict[str, Any] = {"plan.artifact": "planner-1", "fuse.k": 5}
    light = pipeline.taking(none, "rerank.artifact", {"*": "light"})
    assert light == {**none, "rerank": "light"}
    used = {**light, "rerank.artifact": "ranker-1", "rerank.depth": 30}
    assert pipeline.taking(used, "rerank.artifact", {"*": "both"}) == used
    both = pipeline.taking(used, "rerank.neural", switch)
    assert both == {**used, "rerank": "both"}
    back = pipeline.taking({**both, "rerank.neural": "n-1"}, "rerank.artifact", {"*": "light"})
    assert (back["rerank"], back["rerank.neural"]) == ("both", "n-1")
    assert pipeline.specification(both)["stages"]["rerank"]["OPTIONS"] == {
        "artifact": "ranker-1", "depth": 30, "neural": "",
    }  # fmt: skip


def test_an_option_that_no_variant_takes_is_refused() -> None:
    with pytest.raises(InvalidRequest, match=r"No variant of the stage 'rerank' of grasp takes rerank.neural"):
        reranked().taking({}, "rerank.neural", {"light": "both"})
    with pytest.raises(InvalidRequest, match=r"No variant of the stage 'sort' of grasp takes sort.artifact"):
        reranked().taking({}, "sort.artifact", {"*": "light"})
