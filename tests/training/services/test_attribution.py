"""A studio that made 150 films: its list is longer than what is recorded of it, so ranks need a repetition."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from pytest_django.fixtures import Settings

from search.models import Release, SearchRun
from search.models.knowledge import BuildStatus
from search.services.knowledge.import_snapshot import import_snapshot
from search.services.searches.pin_searches import pin_searches
from tests.search.ingest import bundles
from tests.training.broken.world import NAME
from training.data.examples import Example
from training.evaluation.lost import Attribution, Funnel, LostStage
from training.services.attribution import attribute
from training.services.evaluations.choose_pins import search_pinned

pytestmark = pytest.mark.django_db
FILMS = 150
STUDIO, AWARD = f"n{FILMS}", f"n{FILMS + 1}"
QUESTION = "films made by: Goxur Baxoz"
GRAPH_ALONE = {"fuse.method": "static", "fuse.weight": 1.0}


@pytest.fixture(autouse=True)
def studio(broken_site: Settings, tmp_path: Path) -> None:
    """Import the base: ids are `n000` to `n149`, the studio and an award that no edge leads to."""
    nodes = [{"id": f"n{at:03}", "type": "film", "name": f"Film Number{at}", "fields": {}} for at in range(FILMS)]
    nodes += [{"id": STUDIO, "type": "studio", "name": "Goxur Baxoz", "fields": {}}]
    nodes += [{"id": AWARD, "type": "award", "name": "Vonkim Raxur", "fields": {}}]
    edges = [{"source": f"n{at:03}", "relation": "made_by", "target": STUDIO} for at in range(FILMS)]
    edges += [{"source": f"n{at:03}", "relation": "sold_by", "target": STUDIO} for at in range(3)]
    kinds = {"film": {}, "studio": {}, "award": {}}
    import_snapshot(source=bundles.write(tmp_path / "bundle", nodes, edges, name=NAME, node_types=kinds))


def searched(pipeline: str = "grasp", **settings: Any) -> SearchRun:
    pin = pin_searches(knowledge_base=NAME, pipelines=[pipeline], settings=settings)[pipeline]
    return search_pinned(pin, Example("q", QUESTION, ("n130",)))


def test_ranks_below_the_recorded_entries_come_from_a_repetition() -> None:
    run = searched(**GRAPH_ALONE)
    recorded = run.steps.get(role="graph list").output
    assert (len(recorded["ids"]), recorded["total"]) == (100, FILMS)
    attribution = attribute(run, ["n130"])
    # The list is in the order of keys, and the text counts nothing: `n130` is the 131st film.
    [fate] = attribution.answers
    assert (fate.name, fate.type, fate.rank, fate.plans) == ("Film Number130", "film", 131, (0,))
    assert fate.ranks["rescore"] == fate.ranks["fuse"] == 131
    assert fate.loss is not None
    assert fate.loss.stage is LostStage.RANKED
    assert fate.loss.why == "The plan leads to it, but the graph's list puts it at rank 131."
    assert (attribution.lost_at, dict(attribution.lost)) == ("ranked", {LostStage.RANKED: 1})
    assert [node.rank for node in attribution.found] == list(range(1, 11))
    assert not any(node.expected for node in attribution.found)


def test_a_repetition_that_gives_other_lists_proves_nothing() -> None:
    run = searched(**GRAPH_ALONE)
    for step in run.steps.filter(role__in=["graph", "graph list", "fusion"]):
        for listed in _lists_in(step.output):
            listed["ids"][:2] = reversed(listed["ids"][:2])
        step.save(update_fields=["output"])
    [fate] = attribute(run, ["n130"]).answers
    assert fate.loss is not None
    assert fate.loss.stage is LostStage.UNDECIDED
    assert fate.rank is None


def _lists_in(output: Any) -> list[dict[str, Any]]:
    inner = output.values() if isinstance(output, dict) else output if isinstance(output, list) else ()
    found = [listed for part in inner for listed in _lists_in(part)]
    return [*found, output] if isinstance(output, dict) and "ids" in output else found


def test_the_plan_that_would_have_found_it_is_shown_with_its_standing_among_the_plans() -> None:
    attribution = attribute(searched(**{"plan.fault": "hop"}), ["n130"])
    plan = attribution.plan
    assert plan is not None
    assert [(hop.rel, hop.direction) for hop in plan.plan.hops] == [("made_by", "in")]
    assert (plan.found, plan.answers, plan.f1) == (FILMS, 1, round(2 / (FILMS + 1), 4))
    assert plan.rank is not None
    assert plan.probability is not None
    assert 0 < plan.probability <= 1
    assert plan.executed is None
    assert attribution.lost_at == "reached"


def test_where_no_plan_finds_it_a_sentence_says_so() -> None:
    attribution = attribute(searched(), [AWARD, "nobody"])
    assert attribution.plan is None
    assert attribution.no_plan == "No plan that starts from the names in the question finds an expected answer."
    assert dict(attribution.lost) == {LostStage.UNKNOWN: 1, LostStage.UNREACHABLE: 1}
    assert attribution.lost_at == "unreachable"


def test_nothing_is_looked_up_for_answers_that_stand_at_the_top() -> None:
    attribution = attribute(searched(**GRAPH_ALONE), [f"n{at:03}" for at in range(30)])
    assert (attribution.lost_at, dict(attribution.lost), attribution.plan) == (None, {}, None)
    assert len(attribution.answers) == 20


def test_an_attribution_is_read_back_as_it_was_written() -> None:
    for run in (searched(**{"plan.fault": "type"}), searched("ppr"), searched("bm25"), searched("nested")):
        attribution = attribute(run, ["n130", "nobody", "n000"])
        assert Attribution.from_json(attribution.to_json()) == attribution
    with pytest.raises(ValueError, match="version 9"):
        Attribution.from_json({"version": 9})


def test_a_search_that_failed_or_whose_release_is_gone_says_so() -> None:
    run = searched(**GRAPH_ALONE)
    run.status, run.error = SearchRun.Status.FAILED, {"detail": "Postgres stopped answering."}
    failed = attribute(run, ["n130"])
    assert failed.not_first is not None
    assert (failed.not_first.stage, failed.not_first.why) == (LostStage.FAILED, "Postgres stopped answering.")
    Release.objects.update(status=BuildStatus.DROPPED)
    gone = attribute(SearchRun.objects.get(pk=run.pk), ["n000", "n130"])
    assert gone.lost_at is None
    assert dict(gone.lost) == {LostStage.UNDECIDED: 1}
    assert gone.answers[0].loss is not None
    assert gone.answers[0].loss.why == "The release that was searched has been dropped."


def test_a_pipeline_that_the_site_has_no_more_and_steps_that_cannot_be_read(broken_site: Settings) -> None:
    run = searched(**GRAPH_ALONE)
    run.steps.filter(role="graph list").update(output={"ids": 3})
    why = attribute(run, ["n130"]).answers[0].loss
    assert why is not None
    assert why.why.startswith("The search cannot be examined: The output of a step of the role 'graph list'")
    broken_site.GRASP_PIPELINES = {}
    assert attribute(searched_before(run), ["n130"]).lost_at == "undecided"


def searched_before(run: SearchRun) -> SearchRun:
    return SearchRun.objects.get(pk=run.pk)


@pytest.mark.parametrize("k", [0, 101])
def test_a_top_that_is_not_recorded_is_refused(k: int) -> None:
    with pytest.raises(ValueError, match="from 1 to 100"):
        attribute(SearchRun(id=uuid4()), ["n000"], k=k)
    with pytest.raises(ValueError, match="without expected answers"):
        attribute(SearchRun(id=uuid4()), [])


def test_the_funnel_adds_up() -> None:
    asked = [["n130"], ["n000"], ["n000", AWARD, "nobody"]]
    funnel = Funnel.of(attribute(searched(**GRAPH_ALONE), answers) for answers in asked)
    assert funnel.lost_at == {"ranked": 1}
    told = funnel.to_json()
    assert (told["questions"], told["expected"], told["found"]) == (3, 5, 2)
    assert [(stage["stage"], stage["lost"], stage["left"]) for stage in told["stages"]] == [
        ("unknown", 1, 4), ("unreachable", 1, 3), ("ranked", 1, 2),
    ]  # fmt: skip
    [graph] = [one for one in told["lists"] if one["role"] == "graph list"]
    assert graph == {"name": "rescore", "role": "graph list", "top": 2, "held": 2}
