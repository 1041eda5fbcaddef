"""Evidence, linked plans and schemas as the JSON that doors show."""

from search.domain.evidence import Evidence, Path, PathEdge, PathNode, Residual, Result, Share
from search.domain.graph import Field, Node, NodeType, Relation, RelationType, Schema
from search.domain.linking import Binding, GraphRanking, LinkedPlan, Traversal
from search.domain.plan import Anchor, Plan
from search.domain.ranking import Candidate, Ranking

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
    share = Share(1, 0.9, 2.0, 0.33)
    written = Result(1, 0.33, FILM, "In space …", {"graph": share}, evidence).to_json()
    assert written["scores"] == {"graph": {"rank": 1, "score": 0.9, "weight": 2.0, "contribution": 0.33}}
    assert written["evidence"] == {
        "plan_index": 0,
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
    ranking = Ranking.of(dict.fromkeys(range(150), 1.0))
    listed = GraphRanking(ranking, {0: 3}, 150, "weak", {1: 0.5}).to_json()
    assert (listed["ties"][:3], len(listed["ties"])) == ([None, 0.5, None], 100)
    assert (listed["plans"][:2], len(listed["plans"]), listed["n_cand"]) == ([3, 0], 100, 150)


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
