"""A learner sees what searches hand to their reranker, found by models that have not learned from the question."""

from __future__ import annotations

import json
import pickle
from dataclasses import dataclass, replace
from itertools import pairwise

import pytest

from search.domain.errors import SearchCancelled
from search.domain.run_context import RunCancelled, RunContext
from search.domain.trace import Limit
from search.models import Artifact, KnowledgeBase, Release, SearchRun
from search.services.searches.pin_searches import pin_searches
from search.services.searches.search_batch import search_unstored
from tests.training import makers
from training.data.examples import Example
from training.data.hashes import question_hash
from training.learning.task import FOLDS, Finder, FoundOfTask, LearningTools
from training.services.found import ReadingAnswerer, found_by
from training.services.train import train

pytestmark = pytest.mark.django_db
TAUGHT = [replace(example, split="train") for example in makers.questions(end=8)]
UNSEEN = [replace(example, split="val") for example in makers.questions(8, 11)]


def finder(examples: list[Example]) -> Finder:
    release = Release.objects.select_related("snapshot", "vector_set", "knowledge_base").get()
    return found_by(release, "grasp", examples)


def found_of(examples: list[Example], place: int) -> FoundOfTask:
    one = finder(examples)(place, Limit())
    assert one is not None
    return one


def recorded(example: Example, **settings: object) -> dict[str, object]:
    """Return the outputs, by role, of a search with these options."""
    pin = pin_searches(knowledge_base="makers", pipelines=["grasp"], settings=settings)["grasp"]
    done = search_unstored(pin, question=example.text, k=1, purpose="", cancelled=lambda: False)
    assert done.run.status == SearchRun.Status.DONE
    return {step.role: step.output for step in done.steps}


def test_it_hands_over_what_a_search_fuses_and_checks(makers_base: KnowledgeBase) -> None:
    for place, example in enumerate(UNSEEN):
        found, steps = found_of(UNSEEN, place), recorded(example)
        assert found.question.text == example.text
        fused, checked = steps["fusion"], steps["check"]
        assert isinstance(fused, dict)
        assert isinstance(checked, dict)
        assert list(found.fusion.ranking.keys[:100]) == fused["ranking"]["keys"]
        assert list(found.checked.conditions) == checked["keys"]
        assert found.plans
    assert not SearchRun.objects.exists()


def test_a_question_is_searched_with_the_planner_that_has_not_learned_from_it(makers_base: KnowledgeBase) -> None:
    train(
        kind="planner",
        knowledge_base="makers",
        examples=TAUGHT,
        settings=makers.QUICK,
        unproven=True,
    )
    folds = json.loads((Artifact.objects.get().directory / FOLDS).read_bytes())["hashes"]
    asked = finder([*UNSEEN, *TAUGHT])
    places = [*range(len(UNSEEN)), *(len(UNSEEN) + at for fold in (0, 1) for at, example in enumerate(TAUGHT)
                                     if folds[question_hash(example)] == fold)]  # fmt: skip
    assert sorted(asked.places) == sorted(places)
    of_folds = [folds.get(question_hash([*UNSEEN, *TAUGHT][at]), -1) for at in asked.places]
    changes = sum(one != other for one, other in pairwise(of_folds))
    assert changes == 2, "questions of one planner follow each other"
    for place in (len(UNSEEN), len(UNSEEN) + 5):
        example = [*UNSEEN, *TAUGHT][place]
        found = asked(place, Limit())
        assert found is not None
        steps = recorded(example, **{"plan.fold": folds[question_hash(example)]})["plan"]
        assert isinstance(steps, list)
        assert [one.probability for one in found.plans] == [one["probability"] for one in steps]


def test_a_question_is_left_out_where_no_planner_was_kept_without_it(makers_base: KnowledgeBase) -> None:
    train(
        kind="planner",
        knowledge_base="makers",
        examples=TAUGHT,
        settings=makers.QUICK,
        unproven=True,
    )
    artifact = Artifact.objects.get()
    (artifact.directory / "fold-1.json").unlink()
    folds = json.loads((artifact.directory / FOLDS).read_bytes())["hashes"]
    asked = finder(TAUGHT)
    assert sorted(asked.places) == [at for at, one in enumerate(TAUGHT) if folds[question_hash(one)] == 0]
    missing = next(at for at in range(len(TAUGHT)) if at not in asked.places)
    with pytest.raises(KeyError):
        asked(missing, Limit())


def test_a_question_that_users_could_not_ask_finds_nothing_and_a_cancelled_run_stops(
    makers_base: KnowledgeBase,
) -> None:
    asked = finder([replace(UNSEEN[0], text="x" * 1_000_000), UNSEEN[1]])
    assert asked(0, Limit()) is None
    with pytest.raises(SearchCancelled):
        asked(1, Limit(cancelled=lambda: True))


def test_a_pipeline_without_a_reranker_has_nothing_to_hand_over(makers_base: KnowledgeBase) -> None:
    release = Release.objects.select_related("snapshot", "vector_set", "knowledge_base").get()
    asked = found_by(release, "bm25", UNSEEN)
    assert asked.places == ()


@dataclass(frozen=True)
class FirstKeys:
    """Keeps the first candidates, and the size of the graph that the tools hold (task.Reader)."""

    number: int

    def __call__(self, found: FoundOfTask, tools: LearningTools) -> tuple[int, list[int]]:
        return tools.adjacency.size, list(found.fusion.ranking.keys[: self.number])


def test_what_a_reader_keeps_is_the_same_here_and_in_another_process(makers_base: KnowledgeBase) -> None:
    asked = finder(UNSEEN)
    here = dict(asked.read(asked.places, FirstKeys(3), RunContext()))
    nodes = Release.objects.get().snapshot.nodes
    assert here == {place: (nodes, list(found_of(UNSEEN, place).fusion.ranking.keys[:3])) for place in asked.places}
    # The other process gets a copy of the searcher without what it has loaded.
    answerer = ReadingAnswerer(pickle.loads(pickle.dumps((asked._searcher, FirstKeys(3)))))  # type: ignore[attr-defined]
    assert answerer.compose() == {}
    assert dict(answerer.ask(place, lambda: False) for place in asked.places) == here


def test_reading_stops_when_the_training_is_cancelled(makers_base: KnowledgeBase) -> None:
    asked = finder(UNSEEN)
    run = RunContext(limit=Limit(cancelled=lambda: True))
    with pytest.raises((RunCancelled, SearchCancelled)):
        list(asked.read(asked.places, FirstKeys(3), run))
