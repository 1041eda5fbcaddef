"""AF-Retriever and FocusedRetriever as wholes: the running example of the paper, worked by hand, over real HTTP."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from search.adapters import mentions_memmap
from search.adapters.llm_openai import Call, ConfiguredLanguageModel
from search.adapters.llm_openai import Server as Address
from search.adapters.mentions_memmap import MemmapMentions
from search.domain.conversation import Completion, Prompt
from search.domain.errors import StageError
from search.domain.graph import Field, Node, NodeType, Schema
from search.domain.plan import Anchor, Filter, Hop, Plan, ScoredPlan, Target
from search.domain.question import Question
from search.domain.trace import Limit, Trace
from search.pipelines import af_retriever, focused
from search.pipelines.af_retriever import AutofocusStages
from search.pipelines.focused import FocusedStages
from search.stages.candidates import Candidates
from search.stages.explain_grounded import ExplainGrounded
from search.stages.fill import Fill
from search.stages.ground import Ground
from search.stages.join import Join
from search.stages.judge import JudgePairwise
from search.stages.rank_grounded import RankGrounded
from search.stages.target_type import TargetType
from search.stages.triplets import Triplets
from tests import misbehaving
from tests.fakes import MemoryText
from tests.graphs import Nodes, schema_of
from tests.misbehaving import Body, Reply, Server
from tests.oracle import Graph
from tests.search.stages.doubles import Cosines, TriesEverything
from tests.search.stages.ground.test_fixpoint import adjacency_of

ASKED = "Which research in molecular biology has been produced by a Miami uni in 2015?"
UM, MU, DADE, ANN, BEN, BIOLOGY, RNA, RIBOSOMES, OLD, BIODIVERSITY = range(10)
GRAPH = Graph(
    (
        Node(UM, "0", "institution", "University of Miami"),
        Node(MU, "1", "institution", "Miami University"),
        Node(DADE, "2", "institution", "Miami Dade College"),
        Node(ANN, "3", "author", "Ann"),
        Node(BEN, "4", "author", "Ben"),
        Node(BIOLOGY, "5", "field_of_study", "molecular biology"),
        Node(RNA, "6", "paper", "RNA Transcription", fields={"publication_year": 2015}),
        Node(RIBOSOMES, "7", "paper", "Review on Ribosomes", fields={"publication_year": 2015}),
        Node(OLD, "8", "paper", "Old Cells", fields={"publication_year": 1999}),
        Node(BIODIVERSITY, "9", "paper", "Biodiversity in Miami", fields={"publication_year": 2015}),
    ),
    (
        (ANN, "employed_at", UM), (BEN, "employed_at", MU), (ANN, "wrote", OLD), (BEN, "wrote", OLD),
        (BEN, "wrote", RNA), (BEN, "wrote", RIBOSOMES), (OLD, "has_topic", BIOLOGY), (RNA, "has_topic", BIOLOGY),
        (RIBOSOMES, "has_topic", BIOLOGY),
    ),
)  # fmt: skip
NEAR = {
    "name": {"Miami uni": {UM: 0.9, MU: 0.8, DADE: 0.6}, "molecular biology": {BIOLOGY: 1.0}},
    "document": {ASKED: {RNA: 0.5, RIBOSOMES: 0.6, OLD: 0.4, BIODIVERSITY: 0.7}},
    "document+relations": {ASKED: {RNA: 0.3, RIBOSOMES: 0.2, OLD: 0.4, BIODIVERSITY: 0.8, UM: 0.9}},
}
CYPHER = """MATCH (i:institution {name: 'Miami uni'})<-[:employed_at]-(a:author)-[:wrote]->(y:paper),
(y)-[:has_topic]->(f:field_of_study {name: "molecular biology"}) WHERE y.publication_year = 2015 RETURN y.title"""


class NoLog:
    """Stores nothing."""

    def find(self, server: Address, prompt: Prompt) -> Completion | None:
        return None

    def record(self, call: Call) -> None:
        pass


class Nobody:
    """No language model (interfaces.LanguageModel)."""

    def configured(self) -> bool:
        return False

    def complete(self, prompts: Sequence[Prompt], limit: Limit) -> list[Completion | StageError]:
        raise AssertionError


def planned(question: Question, limit: Limit) -> list[ScoredPlan]:
    """Stand in for the planner that needs no model: papers by somebody at Miami University, in 2015."""
    if question.plan is not None:
        return [ScoredPlan(question.plan, "user", 1.0)]
    plan = Plan(
        (Anchor("i", "Miami uni", "institution", ids=("1",)),),
        (Hop("i", "employed_at", "a", "author", "in"), Hop("a", "wrote", "T", "paper", "out")),
        Target("T", ("paper",)),
        (Filter("T", "publication_year", "=", 2015),),
    )
    return [ScoredPlan(plan, "schema", 0.8)]


def stages(folder: Path, model: Any, kind: type = AutofocusStages, **options: Any) -> Any:
    """Return the stages over the graph of the running example; k is 3."""
    adjacency = adjacency_of(folder / "graph", GRAPH, ())
    schema = schema_of(GRAPH)
    fields = {"paper": (Field("publication_year", "number"),)}
    kinds = tuple(NodeType(one.name, one.count, fields.get(one.name, ())) for one in schema.node_types)
    schema = Schema(kinds, schema.relations, schema.relation_types)
    object.__setattr__(adjacency, "schema", schema)
    near = Cosines(NEAR, {node.key: node.type for node in GRAPH.nodes})
    (folder / "names").mkdir(exist_ok=True)
    mentions_memmap.build(folder / "names", [(node.key, node.name, False) for node in GRAPH.nodes])
    names, nodes, text = MemmapMentions(folder / "names"), Nodes(GRAPH, schema), MemoryText({})
    strict = {"edges": "strict"} | options
    return kind(
        target=TargetType(model, schema), plan=planned, triplets=Triplets(model, schema, **strict),
        candidates=Candidates(near, near, text, names, nodes, TriesEverything(GRAPH), adjacency),
        ground=Ground(adjacency, answers=3), rank=RankGrounded(near, near, text),
        fill=Fill(near, near, text, adjacency),
        join=Join(near, near), judge=JudgePairwise(model, nodes, adjacency, near, near),
        explain=ExplainGrounded(nodes, adjacency),
    )  # fmt: skip


def answering(
    cypher: str | Reply, better: Callable[[str], Reply | None] = lambda said: None
) -> Callable[[Body], Reply]:
    """Return a server that says: a paper; this query; RNA Transcription is better than any other."""

    def respond(body: Body) -> Reply:
        rules, asked = body["messages"][0]["content"], body["messages"][-1]["content"]
        if '{"type"' in rules:
            return Reply.says('{"type": "paper"}')
        if '{"cypher"' in rules:
            return cypher if isinstance(cypher, Reply) else Reply.says(json.dumps({"cypher": cypher}))
        first = asked.split("\n\n2.\n")[0]
        return Reply.says('{"better": 1}' if "RNA" in first else '{"better": 2}')

    return respond


@contextmanager
def asking(respond: Callable[[Body], Reply]) -> Iterator[tuple[ConfiguredLanguageModel, Server]]:
    with misbehaving.running() as server:
        server.respond = respond
        yield ConfiguredLanguageModel(NoLog(), Address("kestrel", server.url, "tiny-1")), server


def details(trace: Trace) -> dict[str, tuple[str, str]]:
    return {step.name: (step.status, step.detail) for step in trace.steps}


def words(path: Sequence[dict[str, Any]]) -> str:
    """Return a path as names and relations; an arrow backwards where an edge is walked against its direction."""
    said = []
    for part in path:
        if "node" in part:
            said.append(part["node"]["name"])
        else:
            said.append(f"-{part['relation']}->" if part["direction"] == "out" else f"<-{part['relation']}-")
    return " ".join(said)


def test_the_running_example_of_the_paper_step_by_step(tmp_path: Path) -> None:
    trace = Trace(Limit.seconds(20))
    with asking(answering(CYPHER)) as (model, server):
        ranking = af_retriever.search(Question(ASKED, k=3), stages(tmp_path, model), trace)
    assert [step.name for step in trace.steps] == [
        "target", "triplets", "candidates", "ground", "rank", "fill", "join", "judge", "explain"
    ]  # fmt: skip
    assert all(step.status == "ok" for step in trace.steps)
    assert trace.output("target") == {"labels": ["paper"]}
    # Step 3: a constant has a name, a variable has none.
    assert trace.output("triplets")["triplets"] == [
        {"head": "a", "relation": "employed_at", "tail": "i", "directed": True},
        {"head": "a", "relation": "wrote", "tail": "y", "directed": True},
        {"head": "y", "relation": "has_topic", "tail": "f", "directed": True},
    ]
    # Step 4: three universities; one subject; papers of 2015.
    looked_up = trace.output("candidates")
    assert [(one["symbol"], one["candidates"]) for one in looked_up["constants"]] == [("i", 3), ("f", 1)]
    assert looked_up["filtered"] == [{"symbol": "y", "candidates": 3}]
    # Step 5: the University of Miami has no paper of 2015; with Miami University there are two; 3 candidates add none.
    assert trace.output("ground") == {
        "rounds": [{"l": 1, "answers": 0}, {"l": 2, "answers": 2}, {"l": 3, "answers": 2}],
        "symbols": {"y": 2, "a": 1, "i": 1, "f": 1},
    }
    # Step 6: by the cosine without relations; round(2/3 · 3) = 2 are kept. Step 7: one paper fills up, then the rest.
    assert trace.output("rank")["keys"] == [RIBOSOMES, RNA]
    assert trace.output("fill")["keys"] == [BIODIVERSITY, OLD]
    assert trace.output("join")["ranking"]["keys"] == [RIBOSOMES, RNA, BIODIVERSITY, OLD]
    # Step 8: RNA beats both others, and they keep their order; the fourth is not judged.
    assert ranking.keys == (RNA, RIBOSOMES, BIODIVERSITY, OLD)
    shown = {result["node"]["name"]: result["evidence"] for result in trace.output("explain")}
    assert [words(path) for path in shown["RNA Transcription"]["paths"]] == [
        "Miami University <-employed_at- Ben -wrote-> RNA Transcription",
        "molecular biology <-has_topic- RNA Transcription",
    ]
    assert shown["Biodiversity in Miami"] is None
    purposes = [next(k for k in ("type", "cypher", "better") if f'{{"{k}"' in body["messages"][0]["content"])
                for body in server.requests]  # fmt: skip
    assert purposes == ["type", "cypher", "better", "better"]
    assert "(y:paper)" in server.requests[1]["messages"][-1]["content"]
    assert [step.tokens.get("prompt", 0) for step in trace.steps] == [120, 120, 0, 0, 0, 0, 0, 240, 0]
    assert all(step.prompt_fingerprint for step in trace.steps if step.name in ("target", "triplets", "judge"))


def test_focused_retriever_asks_for_the_query_first_with_properties_and_then_for_the_type(tmp_path: Path) -> None:
    trace = Trace(Limit.seconds(20))
    with asking(answering(CYPHER)) as (model, server):
        made = stages(tmp_path, model, FocusedStages, listed=True, properties="strict")
        ranking = focused.search(Question(ASKED, k=3), made, trace)
    assert [step.name for step in trace.steps] == [
        "triplets", "candidates", "ground", "rank", "target", "fill", "join", "judge", "explain"
    ]  # fmt: skip
    assert ranking.keys == (RNA, RIBOSOMES, BIODIVERSITY, OLD)
    first = server.requests[0]["messages"]
    assert "- paper: name, publication_year (number)" in first[0]["content"]
    assert first[1]["content"] == f"Question: {ASKED}"


def test_concealed_labels_are_neither_shown_nor_understood(tmp_path: Path) -> None:
    trace = Trace(Limit.seconds(20))
    with asking(answering(CYPHER)) as (model, server):
        made = stages(tmp_path, model, concealed="Field of study, author")
        af_retriever.search(Question(ASKED, k=3), made, trace)
    rules = server.requests[1]["messages"][0]["content"].split("Rules:")[0]
    assert "field_of_study" not in rules
    assert "wrote" not in rules
    status, detail = details(trace)["triplets"]
    assert status == "degraded"
    assert "`author` is no available type" in detail
    assert details(trace)["ground"][1].startswith("The question has no relation that the graph knows.")


BAD = {
    "or": (
        CYPHER.replace(" AND ", " OR ").replace("2015 R", "2015 OR y.publication_year = 2016 R"),
        "OR is not allowed",
    ),
    "200 triplets": (
        "MATCH " + ", ".join(f"(y:paper)-[:wrote]-(b{at})" for at in range(200)) + " RETURN y",
        "200 triplets",
    ),
    "prose": (Reply.says("I would look in the library."), "cannot stand here"),
    "for ever": (Reply.says(f"{ASKED} " * 20_000, "length"), "cannot be read"),
    "no such relation": (
        "MATCH (y:paper)-[:printed_at]->(i:institution {name: 'x'}) RETURN y",
        "no available relation",
    ),
    "no such label": ("MATCH (y:paper)<-[:wrote]-(p:person {name: 'x'}) RETURN y", "no available type"),
    "not the answer": ("MATCH (p:paper)<-[:wrote]-(a:author {name: 'x'}) RETURN q", "stands in no pattern"),
}


@pytest.mark.parametrize("case", BAD)
@pytest.mark.parametrize("pipeline", ["af_retriever", "focused"])
def test_a_query_that_cannot_be_used_leaves_the_documents_with_a_sentence(
    case: str, pipeline: str, tmp_path: Path
) -> None:
    cypher, said = BAD[case]
    trace = Trace(Limit.seconds(20))
    module, kind = {"af_retriever": (af_retriever, AutofocusStages), "focused": (focused, FocusedStages)}[pipeline]
    with asking(answering(cypher)) as (model, _):
        ranking = module.search(Question(ASKED, k=3), stages(tmp_path, model, kind), trace)
    status, detail = details(trace)["triplets"]
    assert status == "degraded"
    assert said in detail
    assert "column" in detail
    assert set(ranking.keys) == {RNA, RIBOSOMES, OLD, BIODIVERSITY}
    assert len(detail) < 1_500


def test_a_property_that_is_none_joins_the_name_that_is_searched(tmp_path: Path) -> None:
    cypher = "MATCH (i:institution {name: 'Miami', kind: 'uni'})<-[:employed_at]-(a)-[:wrote]->(y:paper) RETURN y"
    trace = Trace(Limit.seconds(20))
    near = NEAR["name"] | {"Miami kind uni": {MU: 1.0}}
    with asking(answering(cypher)) as (model, _), pytest.MonkeyPatch.context() as patch:
        patch.setitem(NEAR, "name", near)
        af_retriever.search(Question(ASKED, k=3), stages(tmp_path, model), trace)
    assert trace.output("candidates")["constants"][0]["text"] == "Miami kind uni"
    assert trace.output("ground")["rounds"] == [{"l": 1, "answers": 3}]


def test_the_model_may_repair_its_query_if_rounds_are_allowed(tmp_path: Path) -> None:
    def respond(body: Body) -> Reply:
        asked = body["messages"][-1]["content"]
        if "cannot be used as it is" in asked:
            assert "Line 1, column 28: OR is not allowed; keep only what must hold." in asked
            return Reply.says(json.dumps({"cypher": CYPHER}))
        return answering("MATCH (y) WHERE y.x = 1    OR y.x = 2 RETURN y")(body)

    trace = Trace(Limit.seconds(20))
    with asking(respond) as (model, _):
        af_retriever.search(Question(ASKED, k=3), stages(tmp_path, model, rounds=1), trace)
    status, detail = details(trace)["triplets"]
    assert (status, trace.output("rank")["keys"]) == ("ok", [RIBOSOMES, RNA])
    assert detail.endswith("The model was shown its faults once.")


def test_a_plan_that_its_planner_does_not_trust_gives_no_triplets(tmp_path: Path) -> None:
    question = Question(ASKED, k=3)
    guess = replace(planned(question, Limit())[0].plan, risk_level="no_trade")
    for guesses, keys in ((False, BIODIVERSITY), (True, RIBOSOMES)):
        trace = Trace(Limit.seconds(20))
        made = stages(tmp_path, Nobody(), guesses=guesses)
        assert af_retriever.search(replace(question, plan=guess), made, trace).keys[0] == keys
        assert ("no more than a guess" in details(trace)["triplets"][1]) is not guesses


@pytest.mark.parametrize("pipeline", ["af_retriever", "focused"])
def test_without_a_model_the_best_plan_is_read_as_triplets_and_it_is_said(pipeline: str, tmp_path: Path) -> None:
    trace = Trace(Limit.seconds(20))
    module, kind = {"af_retriever": (af_retriever, AutofocusStages), "focused": (focused, FocusedStages)}[pipeline]
    ranking = module.search(Question(ASKED, k=3), stages(tmp_path, Nobody(), kind), trace)
    said = [(step.name, step.status) for step in trace.steps]
    assert said[:3] == [
        ("target" if pipeline == "af_retriever" else "triplets", "degraded"),
        ("plan", "ok"),
        ("triplets", "ok"),
    ]
    assert trace.steps[0].detail == (
        "no language model is configured; the best plan that can be listed without a model is read as triplets"
    )
    # The chosen node, Miami University, stands before nearer names, so that one candidate finds both papers.
    assert trace.output("ground")["rounds"][0] == {"l": 1, "answers": 2}
    assert ranking.keys[:2] == (RIBOSOMES, RNA)
    assert details(trace)["judge"] == ("degraded", "The order before stays: no language model is configured.")


BROKEN = {
    "503": misbehaving.FAILING, "html": misbehaving.HTML, "401": misbehaving.UNAUTHORISED, "empty": Reply.says(""),
}  # fmt: skip


@pytest.mark.parametrize("reply", BROKEN.values(), ids=BROKEN)
def test_a_broken_server_is_as_good_as_none(reply: Reply, tmp_path: Path) -> None:
    trace = Trace(Limit.seconds(20))
    with asking(lambda body: reply) as (model, _):
        ranking = af_retriever.search(Question(ASKED, k=3), stages(tmp_path, model), trace)
    assert ranking.keys[:2] == (RIBOSOMES, RNA)
    assert trace.steps[0].detail.endswith("; the best plan that can be listed without a model is read as triplets")


def test_a_plan_that_comes_with_the_question_is_grounded_without_asking(tmp_path: Path) -> None:
    plan = Plan(
        (Anchor("a", "Ann", "author", ids=("3",)),), (Hop("a", "wrote", "T", "paper"),), Target("T", ("paper",))
    )
    trace = Trace(Limit.seconds(20))
    with asking(answering(CYPHER)) as (model, server), pytest.MonkeyPatch.context() as patch:
        patch.setitem(NEAR, "name", NEAR["name"] | {"Ann": {ANN: 1.0, BEN: 0.2}})
        made = stages(tmp_path, model)
        object.__setattr__(made, "judge", None)
        af_retriever.search(Question(ASKED, k=1, plan=plan), made, trace)
    assert server.requests == []
    assert trace.output("ground")["rounds"][0] == {"l": 1, "answers": 1}
    assert details(trace)["judge"][0] == "skipped"
