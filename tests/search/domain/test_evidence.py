"""Evidence, linked plans and schemas as the JSON that doors show."""

from search.domain.conditions import CheckedConditions, Conditions
from search.domain.evidence import Evidence, Path, PathEdge, PathNode, PlanShare, Residual, Result
from search.domain.fusion import Share
from search.domain.graph import Field, Node, NodeType, Relation, RelationType, Schema
from search.domain.linking import Binding, GraphRanking, LinkedPlan, Traversal
from search.domain.plan import Anchor, Plan
from search.domain.ranking import Candidate
from search.domain.trust import Trust
from tests.rankings import ranked

ADA, FILM = Node(0, "n0", "person", "Ada", fields={"born": "1950"}), Node(1, "n1", "film", "Alien")


def test_a_path_is_nodes_and_edges_in_turn() -> None:
    path = Path((PathNode(ADA, "a"), PathNode(FILM, "T")), (PathEdge("acted_in", "out"),))
    assert path.to_json() == [
        {"var": "a", "node": {"id": "n0", "type": "person", "name": "Ada"}},
        {"relation": "acted_in", "direction": "out"},
        {"var": "T", "node": {"id": "n1", "type": "film", "name": "Alien"}},
    ]
    assert Path((PathNode(FILM),), ()).to_json() == [{"node": {"id": "n1", "type": "film", "name": "Alien"}}]


def test_a_result_carries_its_arithmetic_and_its_evidence() -> None:
    evidence = Evidence(0, (("a", "met"),), ("met", "not_met"), Residual("in space", "met", 0.5, 0.4))
    share = Share(1, 0.9, 2.0, 0.33, 5.0, ("graph",))
    written = Result(1, 0.33, FILM, "In space …", {"graph": share}, evidence).to_json()
    assert written["scores"] == {
        "graph": {"rank": 1, "score": 0.9, "weight": 2.0, "contribution": 0.33, "k": 5.0, "path": ["graph"]}
    }
    assert written["evidence"] == {
        "plan_index": 0,
        "whole": "unknown",
        "plans": [],
        "anchors": [{"var": "a", "status": "met"}],
        "hops": [{"index": 0, "status": "met"}, {"index": 1, "status": "not_met"}],
        "filters": [],
        "residual": {"text": "in space", "status": "met", "score": 0.5, "threshold": 0.4},
        "paths": [],
    }
    assert Result(1, 0.33, FILM, "", {}).to_json()["evidence"] is None


def test_a_linked_plan_shows_the_bindings_of_every_anchor() -> None:
    plan = Plan((Anchor("a", "Ada"), Anchor("b", "Bo")))
    written = LinkedPlan(plan, (Binding("a", ADA, 0.9),), 2).to_json()
    assert written == [
        {"plan_index": 2, "anchor": "a", "bindings": [{"node": ADA.to_json(), "score": 0.9}]},
        {"plan_index": 2, "anchor": "b", "bindings": []},
    ]


def test_traversals_and_graph_rankings_keep_the_first_hundred_and_the_total() -> None:
    candidates = tuple(Candidate(key, 1.0) for key in range(150))
    written = Traversal(0, "postgres", candidates, True, "SELECT").to_json()
    assert (len(written["keys"]), written["total"], written["truncated"]) == (100, 150, True)
    ranking = ranked(dict.fromkeys(range(150), 1.0))
    listed = GraphRanking(ranking, Trust(150, "weak", 0.4), {3: {0: 0.75}, 1: {0: 0.25}}).to_json()
    assert (listed["plans"][:2], len(listed["plans"]), listed["n_cand"]) == ([3, None], 100, 150)
    assert listed["shares"][0] == [{"plan_index": 3, "share": 0.75}, {"plan_index": 1, "share": 0.25}]
    assert (listed["risk_level"], listed["probability"]) == ("weak", 0.4)


def test_the_shares_of_plans_are_the_parts_of_a_candidates_score_largest_first() -> None:
    # Plan 4 is the most probable that found node 1, but plan 2 gave it more.
    parts = {4: {1: 0.2, 2: 0.5}, 2: {1: 0.6, 3: -0.1}, 7: {3: -0.2}}
    graph = GraphRanking(ranked({1: 0.8, 2: 0.5, 3: -0.3}), Trust(2, "normal", 0.5), parts)
    assert [(share.plan_index, round(share.share, 9)) for share in graph.shares([1])[0]] == [(2, 0.75), (4, 0.25)]
    assert (graph.plan_of(1), graph.plan_of(2), graph.plan_of(9)) == (2, 4, None)
    # A text that speaks against a candidate gives it nothing; where all do, the plans share it evenly.
    assert [(share.plan_index, share.share) for share in graph.shares([3])[0]] == [(2, 0.5), (7, 0.5)]
    assert graph.leading == 2
    assert GraphRanking.empty().leading is None


def test_what_was_checked_is_read_back_by_keys_or_by_the_ids_of_a_record() -> None:
    held = Conditions(
        1, "not_met", (("a", "met"), ("b", "unknown")), ("met", "not_met"), ("unknown",), (PlanShare(1, 1.0),)
    )
    checked = CheckedConditions({7: held, 4: Conditions(0, "met")}, 1)
    written = checked.to_json()
    assert written["keys"] == [7, 4]
    assert CheckedConditions.from_json(written) == checked
    recorded = {"ids": ["x", "y"]} | {name: written[name] for name in ("leading", "conditions")}
    assert CheckedConditions.from_json(recorded, {"x": 7, "y": 4}) == checked


def test_a_schema_is_read_back_as_it_was_written() -> None:
    schema = Schema(
        (NodeType("film", 2, (Field("year", "number", True, 2, False),), False, ("movie",), "A film.", True),),
        (Relation("sequel", "is followed by", "follows", ("part two",)),),
        (RelationType("film", "sequel", "film", 1),),
        "de",
    )
    assert Schema.from_json(schema.to_json()) == schema
    assert schema.type_codes == {"film": 0}
    assert schema.node_type("film").count == 2
    assert schema.relation("sequel").inverse == "follows"
    assert schema.answerable == ()


def test_a_schema_knows_which_types_a_relation_joins() -> None:
    pairs = (RelationType("film", "made", "person"), RelationType("person", "knows", "person"))
    schema = Schema((NodeType("film"), NodeType("person")), (Relation("made"), Relation("knows")), pairs)
    assert schema.ends == {"made": {(0, 1)}, "knows": {(1, 1)}, "*": {(0, 1), (1, 1)}}
