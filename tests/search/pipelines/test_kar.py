"""KAR as a whole: the searched text worked out by hand, its two rounds of calls, its evidence, its ablations."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from search.domain.errors import InvalidRequest
from search.domain.options import assigned
from search.domain.question import Question
from search.domain.trace import Limit, Trace
from search.pipelines.kar import KarStages, search
from search.stages.expand.entities import ParseEntities, RetrieveEntities
from search.stages.expand.relations import RelateDocuments
from search.stages.expand.triples import ExpandByTriples
from search.stages.explain_paths import ExplainPaths
from search.stages.retrieve import Bm25
from search.wiring import pipeline
from tests.fakes import HashEncoder, MemoryVectors
from tests.search.stages.expand.films import ANN, ASKED, BO, DOCUMENT, GALE, LONE, REEF, TIDE, Words, taken, tools_of
from tests.search.stages.expand.models import NoModel, answering, asked, model_at

SIMILAR = {DOCUMENT: {ANN: 0.5, TIDE: 0.6, GALE: 0.3, BO: 0.2, REEF: 0.1, LONE: 0.05}}
DOCUMENTS = {
    ANN: "person: Ann Arbor",
    TIDE: "film: Tide\nabout: A harbour at night.",
    GALE: "film: Gale\nabout: A storm takes the pier.",
    BO: "person: Bo Derrin",
}
NAMED = json.dumps({"entities": [{"type": "person", "name": "Ann Arbor", "document": "person: Ann Arbor"}]})


def run(
    folder: Path, model: Any, *, graph: bool = True, similar: Any = SIMILAR, **options: Any
) -> tuple[Trace, Words, tuple[int, ...]]:
    tools = tools_of(folder, similar=similar)
    words = Words({REEF: 3.0, GALE: 2.0, BO: 1.0})
    stages = KarStages(
        entities=ParseEntities(model, **taken(tools, "mentions", "schema")),
        documents=RetrieveEntities(**taken(tools, "mentions", "nodes", "schema", "encoder", "vectors", "text")),
        relations=RelateDocuments(**taken(tools, "adjacency", "nodes", "encoder", "vectors", "text"))
        if graph
        else None,
        expand=ExpandByTriples(model, tools["schema"], **options),
        retrieve=Bm25(words, HashEncoder(), MemoryVectors({DOCUMENT: {}})),
        explain=ExplainPaths(tools["nodes"]),
    )
    trace = Trace(Limit.seconds(60))
    return trace, words, search(Question(ASKED), stages, trace).keys


def test_the_model_is_asked_twice_and_sees_documents_and_the_edges_between_them(tmp_path: Path) -> None:
    drawn = iter([NAMED, "film: Surf", "film: Swell", "film: Wave"])
    with answering(lambda said: next(drawn)) as server:
        trace, words, _ = run(tmp_path, model_at(server))
    first, *rest = asked(server)
    assert first == f"Question: {ASKED}"
    assert len(rest) == 3
    assert len(set(rest)) == 1
    # The question's own document is the nearest one, Tide; its neighbours are Ann and, over her, Gale. Documents of
    # entities come first, then those of neighbours; the edges are those of both entities.
    lines = [line for line in rest[0].split("Entries that belong to a question")[1].splitlines() if line[:1] == "["]
    assert lines == [
        "[1] film: Tide",
        "[2] person: Ann Arbor",
        "[3] film: Gale",
        "[4] person: Bo Derrin",
        "[1] -[directed by]-> [2]",
        "[1] -[directed by]-> [2] <-[directed by]- [3]",
        "[2] <-[directed by]- [1]",
        "[2] <-[directed by]- [3]",
        "[2] <-[written by]- [3]",
        "[2] <-[directed by]- [3] -[starring]-> [4]",
    ]
    assert "about: A harbour at night." in rest[0]
    assert sorted(words.searched[0].split("\n\n")) == sorted([ASKED, "film: Surf", "film: Swell", "film: Wave"])
    assert {step.status for step in trace.steps} == {"ok"}


def test_without_a_model_the_triples_themselves_are_appended_best_first_each_neighbour_once(tmp_path: Path) -> None:
    trace, words, _ = run(tmp_path, NoModel())
    # Neighbours by similarity: Tide .6 (of Ann), Ann .5 (of Tide), Gale .3 (of Tide over Ann; then of Ann).
    assert words.searched[0].split("\n\n") == [
        ASKED,
        f"Tide directed by Ann Arbor\n{DOCUMENTS[TIDE]}",
        f"Tide directed by Ann Arbor\n{DOCUMENTS[ANN]}",
        f"Tide directed by Ann Arbor; Gale directed by Ann Arbor\n{DOCUMENTS[GALE]}",
    ]
    parts = trace.output("expand")["parts"]
    assert [part["source"] for part in parts] == ["question", "triple", "triple", "triple"]
    assert [part["node"]["id"] for part in parts[1:]] == ["b", "a", "c"]
    expand = next(step for step in trace.steps if step.name == "expand")
    assert (expand.status, expand.detail) == (
        "degraded",
        "No language model is configured. The triples were appended without rewriting.",
    )


def test_the_triples_that_lead_to_a_result_are_its_evidence(tmp_path: Path) -> None:
    trace, _, keys = run(tmp_path, NoModel())
    assert keys == (REEF, GALE, BO)
    shown = {entry["node"]["id"]: entry["evidence"] for entry in trace.output("explain")}
    assert shown["e"] is None
    walks = [[part.get("relation") or part["node"]["name"] for part in path] for path in shown["c"]["paths"]]
    assert walks == [
        ["Tide", "directed_by", "Ann Arbor", "directed_by", "Gale"],
        ["Ann Arbor", "directed_by", "Gale"],
        ["Ann Arbor", "written_by", "Gale"],
    ]
    assert [part["direction"] for part in shown["d"]["paths"][0][1::2]] == ["in", "out"]


def test_without_the_graph_the_model_sees_the_documents_of_the_entities_alone(tmp_path: Path) -> None:
    drawn = iter([NAMED, "film: Surf", "film: Swell", "film: Wave"])
    with answering(lambda said: next(drawn)) as server:
        trace, _, _ = run(tmp_path, model_at(server), graph=False)
    said = asked(server)[1]
    assert "[1] film: Tide" in said
    assert "[2] person: Ann Arbor" in said
    assert "[3]" not in said
    assert "]->" not in said.split("\n\n", 1)[1]
    skipped = next(step for step in trace.steps if step.name == "relations")
    assert skipped.status == "skipped"
    assert all(entry["evidence"] is None for entry in trace.output("explain"))


def test_without_graph_and_model_the_documents_of_the_entities_are_appended(tmp_path: Path) -> None:
    _, words, _ = run(tmp_path, NoModel(), graph=False)
    assert words.searched[0].split("\n\n") == [ASKED, DOCUMENTS[TIDE], DOCUMENTS[ANN]]


def test_an_entity_without_a_document_is_left_out(tmp_path: Path) -> None:
    _, words, keys = run(tmp_path, NoModel(), similar={DOCUMENT: {}}, graph=False)
    assert words.searched[0].split("\n\n") == [ASKED, DOCUMENTS[ANN]]
    assert keys


def test_what_the_model_reads_is_cut_where_the_longest_documents_are_long(tmp_path: Path) -> None:
    drawn = iter([NAMED, "film: Surf", "film: Swell", "film: Wave"])
    with answering(lambda said: next(drawn)) as server:
        run(tmp_path, model_at(server), knowledge=270)
    said = asked(server)[1]
    assert "[2] person: Ann Arbor" in said
    assert "A storm takes the pier." not in said
    assert "[2] <-[written by]- [3]" in said


def test_both_ablations_are_settings_of_the_pipeline() -> None:
    kar = pipeline("kar")
    without = kar.specification(assigned(["relations=none"]))
    assert without["stages"]["relations"]["BACKEND"] is None
    by_name = kar.specification(assigned(["relations.by=name"]))["stages"]["relations"]["OPTIONS"]
    assert (by_name["by"], by_name["hops"], by_name["top"]) == ("name", 2, 10)
    with pytest.raises(InvalidRequest, match="belongs to the variant graph"):
        kar.specification(assigned(["relations=none", "relations.top=5"]))
