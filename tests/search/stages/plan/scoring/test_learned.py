"""A trained planner in use: what it has not seen goes by its wording, and what cannot be used is said and done without.

Its weights here are those that nothing was learned with, so that words decide as without it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from search.domain.graph import Schema
from search.domain.question import Question
from search.domain.trace import Limit, StepOutput
from search.interfaces import PlanScorer
from search.neural.plan_scorer import LearnedPlanScorer, LoadedPlanScorers, PlanScorerNet, ScorerSize
from search.stages.plan import Planner
from search.stages.plan.knowledge.shape import Metapath, SchemaStep
from search.stages.plan.scoring.features import FEATURES
from search.stages.plan.scoring.learned import mapped_paths, path_key
from search.stages.plan.scoring.score import Weights
from tests.fakes import HashEncoder
from tests.search.stages.plan.films import FILMS, SCHEMA, planner_of

DIMENSIONS = 32
DIRECTED = "who directed Alpha Rising"
KEY = '["film",["DIRECTED_BY","out","person"]]'


def scorer(
    relations: Sequence[str] = tuple(relation.name for relation in SCHEMA.relations),
    types: Sequence[str] = tuple(kind.name for kind in SCHEMA.node_types),
    free: Sequence[float] = (0.0,) * DIMENSIONS,
    **changed: Any,
) -> LearnedPlanScorer:
    """Return a scorer that knows these relations and types, and one path by this vector."""
    weights = Weights()
    net = PlanScorerNet(
        ScorerSize(DIMENSIONS, len(FEATURES), 2), weights.spoken().tolist(), weights.cosine, weights.text
    )
    tensors = {name: tensor.numpy() for name, tensor in net.state_dict().items()}
    served = {"encoder": "hash@1", "features": FEATURES, "hidden": 2, "types": types, "relations": relations,
              "paths": [KEY], **changed}  # fmt: skip
    return LearnedPlanScorer("planner-1", served, {**tensors, "free": np.array([free], dtype=np.float32)})


@dataclass(frozen=True)
class Kept:
    """One scorer, whatever is asked for (interfaces.PlanScorers)."""

    scorer: PlanScorer

    def get(self, artifact: str) -> PlanScorer:
        return self.scorer


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Planner:
    """The planner without an artifact."""
    return replace(planner_of(tmp_path_factory.mktemp("films"), FILMS), encoder=HashEncoder(dimensions=DIMENSIONS))


def with_scorer(plain: Planner, scorer: PlanScorer) -> Planner:
    return replace(plain, plan_scorers=Kept(scorer), artifact="planner-1")


def asked(planner: Planner, text: str = DIRECTED) -> StepOutput[Any]:
    listed = planner(Question(text), Limit())
    assert isinstance(listed, StepOutput)
    return listed


def first_hop(listed: StepOutput[Any]) -> str:
    return str(listed[0].plan.hops[0].rel)


def test_a_trained_planner_that_knows_all_there_is_has_nothing_to_say(plain: Planner) -> None:
    listed = asked(with_scorer(plain, scorer()))
    assert (first_hop(listed), listed.detail, listed.status) == ("DIRECTED_BY", "", "ok")
    assert {plan.source for plan in listed} == {"learned"}
    assert sum(plan.probability for plan in listed) == pytest.approx(1)


def test_what_came_with_a_new_snapshot_goes_by_its_wording_and_is_named(plain: Planner) -> None:
    listed = asked(with_scorer(plain, scorer(relations=["HAS_GENRE", "HAS_TAGS", "RELEASE_YEAR", "STARRED_ACTORS"])))
    assert (first_hop(listed), listed.status) == ("DIRECTED_BY", "ok")
    assert {plan.source for plan in listed} == {"learned"}
    assert listed.detail == (
        "The planner was trained before there was the relation 'DIRECTED_BY': plans with them are scored by their "
        "wording."
    )


def test_of_much_that_is_new_only_some_is_named(plain: Planner) -> None:
    listed = asked(with_scorer(plain, scorer(relations=(), types=["film", "person", "genre", "year"])))
    assert listed.detail == (
        "The planner was trained before there was the type 'tag', the relation 'DIRECTED_BY', the relation "
        "'STARRED_ACTORS' and 3 more: plans with them are scored by their wording."
    )
    assert first_hop(listed) == "DIRECTED_BY"


def test_a_path_has_the_same_key_in_every_snapshot(plain: Planner) -> None:
    turned = Schema(SCHEMA.node_types[::-1], SCHEMA.relations[::-1], SCHEMA.relation_types)
    for schema in (SCHEMA, turned):
        film, person = schema.type_codes["film"], schema.type_codes["person"]
        path = Metapath(film, (SchemaStep(schema.relation_codes["DIRECTED_BY"], "out", person),))
        assert path_key(path, schema) == KEY


def test_a_path_that_was_seen_has_the_learned_vector_and_any_other_that_of_its_wording(plain: Planner) -> None:
    free = np.eye(DIMENSIONS)[3].tolist()
    path_vectors = mapped_paths(scorer(free=free), plain.knowledge)
    film, person = SCHEMA.type_codes["film"], SCHEMA.type_codes["person"]
    seen = Metapath(film, (SchemaStep(SCHEMA.relation_codes["DIRECTED_BY"], "out", person),))
    new = Metapath(film, (SchemaStep(SCHEMA.relation_codes["STARRED_ACTORS"], "out", person),))
    wording = plain.knowledge.vectors.of([plain.knowledge.wording.plan((new,))])[0]
    places, rows = path_vectors.of([seen, new])
    assert rows[places[seen]] == pytest.approx(free)
    assert rows[places[new]] == pytest.approx(wording, abs=1e-6)


def test_two_scorers_share_no_vectors_whatever_they_are_called(plain: Planner) -> None:
    film, person = SCHEMA.type_codes["film"], SCHEMA.type_codes["person"]
    path = Metapath(film, (SchemaStep(SCHEMA.relation_codes["DIRECTED_BY"], "out", person),))
    for axis in (1, 2):
        places, rows = mapped_paths(scorer(free=np.eye(DIMENSIONS)[axis].tolist()), plain.knowledge).of([path])
        assert int(np.argmax(rows[places[path]])) == axis


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"encoder": "other@2"}, "planner-1 was trained on vectors of other@2, and the encoder here is hash@1"),
        (
            {"features": FEATURES[::-1]},
            "planner-1 was trained on other features than this version computes; train it again",
        ),
    ],
)
def test_what_was_trained_for_something_else_is_done_without(
    plain: Planner, changed: dict[str, Any], sentence: str
) -> None:
    listed, without = asked(with_scorer(plain, scorer(**changed))), asked(plain)
    assert list(listed) == list(without)
    assert (listed.detail, listed.status) == (f"Plans are scored without the trained planner: {sentence}.", "degraded")


@pytest.mark.parametrize(
    ("artifact", "sentence"),
    [
        ("planner-2", "there is no artifact planner-2 on this machine"),
        ("../planner-1", "'../planner-1' is not the name of an artifact"),
        ("broken", "the artifact broken cannot be read"),
    ],
)
def test_an_artifact_that_is_not_there_or_broken_is_done_without(
    plain: Planner, tmp_path: Path, artifact: str, sentence: str
) -> None:
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "config.json").write_text('{"kind": "plan')
    listed = asked(replace(plain, plan_scorers=LoadedPlanScorers(tmp_path), artifact=artifact))
    assert list(listed) == list(asked(plain))
    assert listed.status == "degraded"
    assert listed.detail.startswith(f"Plans are scored without the trained planner: {sentence}")


def test_a_site_that_reads_no_artifacts_says_so(plain: Planner) -> None:
    listed = asked(replace(plain, artifact="planner-1"))
    assert listed.detail == "Plans are scored without the trained planner: this site reads no artifacts."
    assert list(listed) == list(asked(plain))


@pytest.mark.parametrize("text", ["", "who", "nothing named in here", "x" * 5_000, "\0"])
def test_a_question_that_names_nothing_is_left_to_the_text(plain: Planner, text: str) -> None:
    [only] = asked(with_scorer(plain, scorer()), text)
    assert (only.plan.anchors, only.probability) == ((), 1.0)
