"""An evaluation measures one thing: what is activated while its questions are asked changes nothing of it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.db.models import F

from search.domain.trace import Limit
from search.models import KnowledgeBase, KnowledgeBaseSettings, Release, SearchRun, Snapshot
from search.models.knowledge import BuildStatus
from search.services.knowledge.save_knowledge_settings import save_knowledge_settings
from search.services.pipelines.save_pipeline_version import save_pipeline_version
from search.services.searches.pin import mixed
from search.services.searches.pin_searches import pin_searches
from tests.graphs import store
from tests.search import small
from training.data.examples import Example
from training.models import Evaluation
from training.services.evaluate import MixedEvaluation, evaluate
from training.services.tune import tune

EXAMPLES = [Example(f"q{at}", f"question {at}", ("film/1",)) for at in range(4)]
SECOND = EXAMPLES[2].text
"""While this question is asked, the test changes something."""


def another_release(base: KnowledgeBase) -> None:
    """Activate a second release of the films."""
    snapshot = Snapshot.objects.create(
        knowledge_base=base,
        status=BuildStatus.READY,
        schema_json=small.schema().to_json(),
        nodes=len(small.GRAPH.nodes),
    )
    store(small.GRAPH, small.schema(), snapshot.pk)
    made = Release.objects.create(knowledge_base=base, number=2, snapshot=snapshot, status=BuildStatus.READY)
    KnowledgeBase.objects.filter(pk=base.pk).update(active_release=made)


def another_version(base: KnowledgeBase) -> None:
    """Activate a version of the pipeline that returns one result."""
    save_pipeline_version(knowledge_base=base, pipeline="text", options={"retrieve.depth": 1})


def other_settings(base: KnowledgeBase) -> None:
    """Hide persons, from now on."""
    base = KnowledgeBase.objects.get(pk=base.pk)
    save_knowledge_settings(knowledge_base=base, values={"types": {"person": {"hidden": True}}})


def evaluated(base: KnowledgeBase, output: Path, change: Callable[[KnowledgeBase], None]) -> dict[str, Any]:
    """Evaluate `text`, and change something once, while the third question is asked."""
    left = [change]
    small.HOOKS[SECOND] = lambda limit: left.pop()(base) if left else None
    return evaluate(
        knowledge_base="films", examples=EXAMPLES, split=None, pipelines=["text"], settings={}, output=output
    )


def used() -> set[tuple[str, int, str, int]]:
    """Return what searches used: release, version of the settings, hash, version of the pipeline."""
    rows = SearchRun.objects.filter(origin="evaluation").values_list(
        "release_name", "settings_version", "specification_hash", "pipeline_number"
    )  # fmt: skip
    return set(rows)


@pytest.mark.parametrize("change", [another_release, another_version, other_settings])
def test_what_is_activated_in_the_middle_changes_nothing(
    films: KnowledgeBase, tmp_path: Path, change: Callable[[KnowledgeBase], None]
) -> None:
    report = evaluated(films, tmp_path, change)
    [(release, settings_version, hashed, version)] = used()
    part = report["pipelines"]["text"]
    assert (report["release"], report["settings_version"]) == (release, settings_version) == ("films-1", 0)
    assert (part["specification_hash"], part["version"]) == (hashed, version)
    assert part["specification"]["stages"]["retrieve"]["OPTIONS"]["depth"] == 50
    assert part["errors"] == 0
    row = Evaluation.objects.get()
    assert (str(row.id), row.status, row.release_name) == (report["evaluation"], "done", "films-1")
    assert SearchRun.objects.filter(evaluation=row.id).count() == len(EXAMPLES)
    assert row.report == json.loads((tmp_path / "report.json").read_text())


def test_a_search_reads_the_schema_with_the_settings_that_were_active_when_it_was_asked(
    films: KnowledgeBase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(small.PIPELINES["text"]["STAGES"], "retrieve", {"BACKEND": "tests.search.small.FindAndTell"})
    small.HIDDEN.clear()
    evaluated(films, tmp_path, other_settings)
    assert KnowledgeBaseSettings.objects.count() == 1
    # Four questions, the first once more to load what the pipeline takes, and all of them a second time.
    assert small.HIDDEN == [False] * 9


def test_figures_over_searches_that_used_two_things_are_refused(films: KnowledgeBase, tmp_path: Path) -> None:
    def strange(limit: Limit) -> None:
        SearchRun.objects.filter(question=EXAMPLES[1].text).update(specification_hash="other")

    # The question is asked again after the first answers were stored.
    small.HOOKS[SECOND] = strange
    with pytest.raises(MixedEvaluation, match="Searches with text used another specification than the evaluation: "):
        evaluate(
            knowledge_base="films", examples=EXAMPLES, split=None, pipelines=["text"], settings={}, output=tmp_path
        )
    assert not (tmp_path / "report.json").exists()
    row = Evaluation.objects.get()
    assert (row.status, row.report) == ("failed", None)
    assert row.reason.startswith("Searches with text used another specification than the evaluation")


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"release_name": "films-9"}, "another release than the evaluation: films-9 instead of films-1."),
        ({"settings_version": F("settings_version") + 3}, "settings than the evaluation: 3 instead of 0."),
        ({"pipeline": "path"}, "The evaluation contains searches with path, which is not one of its pipelines"),
    ],
)
def test_each_difference_is_named(films: KnowledgeBase, tmp_path: Path, values: dict[str, Any], said: str) -> None:
    report = evaluated(films, tmp_path, lambda base: None)
    pins = pin_searches(knowledge_base="films", pipelines=["text"], settings={})
    row = Evaluation.objects.get(pk=report["evaluation"])
    assert mixed(pins, row.id) == ""
    SearchRun.objects.filter(question=EXAMPLES[1].text).update(**values)
    assert said in mixed(pins, row.id)


def test_tuning_is_pinned_too(films: KnowledgeBase, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(small.PIPELINES["path"]["STAGES"], "fuse", {"BACKEND": "tests.search.small.Weigh"})
    left = [another_release]
    small.HOOKS[SECOND] = lambda limit: left.pop()(films) if left else None
    report = tune(knowledge_base="films", examples=EXAMPLES, split=None, pipeline="path")
    assert {row[:2] for row in used()} == {("films-1", 0)}
    assert report["release"] == "films-1"
    assert Evaluation.objects.get().purpose == "tuning"
