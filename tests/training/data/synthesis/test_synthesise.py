"""Questions made of a base: their answers are all answers, their words never name one, a seed makes them all."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from search.domain.graph import Node
from search.domain.run_context import RunCancelled, RunContext
from search.domain.trace import Limit
from tests.training.data.synthesis import oracle
from tests.training.data.synthesis.worlds import NAMES, Tools, base_of, demo, tools_of
from training.data.examples import Example
from training.data.hashes import normalised
from training.data.synthesis import english_words, synthesise
from training.data.synthesis.base import Base
from training.data.synthesis.make import MOST_ANSWERS, MadeQuestion, Maker
from training.data.synthesis.recipes import BARE, KINDS, Recipe

WORDS = ("amber", "birch", "cobalt", "drum", "ember", "fjord", "grain", "harbour", "iris", "jetty", "kiln", "lantern")


@pytest.fixture(scope="module", params=NAMES)
def tools(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Tools:
    return tools_of(tmp_path_factory.mktemp(request.param), *demo(request.param))


def questions(tools: Tools, number: int, kinds: Sequence[Recipe] = KINDS) -> list[MadeQuestion]:
    """Return questions with their drafts."""
    maker = Maker(tools, Base.of(tools), kinds)
    chance = np.random.default_rng(3)
    allowed = [node for node in tools.graph.nodes if tools.schema.node_type(node.type).answerable]
    drawn = (allowed[int(chance.integers(len(allowed)))] for _ in itertools.count())
    made = (maker.question(node, chance) for node in drawn)
    return list(itertools.islice(filter(None, made), number))


def made_of(tools: Tools, number: int, seed: int = 0) -> list[Example]:
    return list(synthesise(tools, number, seed))


def names_of(node: Node) -> list[str]:
    return [said for name in (node.name, *node.aliases) if (said := normalised(name))]


def test_the_answers_are_all_nodes_that_meet_the_question(tools: Tools) -> None:
    for question in questions(tools, 120):
        wanted = oracle.answers(tools.graph, tools.schema, question.draft)
        if question.draft.ways or question.draft.filters:
            assert set(question.answers) == wanted, question
        else:
            # Where only a text is described, the text index finds those that say the same.
            assert {question.draft.about} <= set(question.answers) <= wanted
        assert 1 <= len(question.answers) <= MOST_ANSWERS


def test_a_bare_question_says_names_and_words_of_texts_and_its_answers_are_all(tools: Tools) -> None:
    joints = set(" ".join((*english_words.BARE, *english_words.BARE_JOINTS)).replace("{p}", "").split()) | {",", "?"}
    for question in questions(tools, 60, BARE):
        draft = question.draft
        assert draft.bare
        assert set(question.answers) == oracle.answers(tools.graph, tools.schema, draft)
        left = question.text.lower()
        own = [draft.passage.said] if draft.passage else []
        for part in own + [way.passage.said if way.passage else way.name for way in draft.ways]:
            said = " ".join(part.lower().split())
            assert said in left, question
            left = left.replace(said, " , ", 1)
        assert set(left.replace("?", " ? ").replace(",", " , ").split()) <= joints, question


def test_no_question_names_its_answer_and_none_is_asked_twice(tools: Tools) -> None:
    examples = made_of(tools, 400)
    by_id = {node.id: node for node in tools.graph.nodes}
    for example in examples:
        said = f" {normalised(example.text)} "
        assert not [name for key in example.answers for name in names_of(by_id[key]) if f" {name} " in said], example
        assert all(tools.schema.node_type(by_id[key].type).answerable for key in example.answers)
    assert len({normalised(example.text) for example in examples}) == len(examples) == 400


def test_a_seed_gives_the_same_questions_and_another_seed_others(tools: Tools, tmp_path: Path) -> None:
    first = made_of(tools, 60, 5)
    again = tools_of(tmp_path, tools.graph, tools.schema)
    assert made_of(again, 60, 5) == first
    assert made_of(tools, 30, 5) == first[:30]
    assert not {one.text for one in made_of(tools, 60, 6)} >= {one.text for one in first}


def test_every_part_of_a_base_is_asked_about(tools: Tools) -> None:
    examples = made_of(tools, 600)
    kinds = Counter(example.slices["kind"] for example in examples)
    assert {one.source for one in KINDS if kinds[one.kind]} == {"graph", "text", "fields"}
    assert {"one hop", "two hops", "three hops", "two conditions", "text", "one hop and text"} <= set(kinds)
    types = {node.id: node.type for node in tools.graph.nodes}
    asked = {types[key] for example in examples for key in example.answers}
    assert len(asked) >= 0.7 * len(tools.schema.answerable)


def test_types_that_cannot_be_answers_or_are_hidden_are_not_asked_for(tmp_path: Path) -> None:
    graph, schema = demo("products")
    assert not schema.node_type("season").answerable
    tools = tools_of(tmp_path, graph, schema)
    types = {node.id: node.type for node in graph.nodes}
    assert "season" not in {types[key] for example in made_of(tools, 500) for key in example.answers}


def test_a_base_without_relations_is_asked_for_its_texts(tmp_path: Path) -> None:
    texts = [" ".join([f"{word}{at}" for word in WORDS[:7]]) + "." for at in range(9)]
    tools = tools_of(tmp_path, *base_of([("thing", f"Thing {at}", {"text": text}) for at, text in enumerate(texts)]))
    examples = made_of(tools, 40)
    assert len(examples) == 40
    assert {example.slices["kind"] for example in examples} == {"text"}
    assert all(len(example.answers) == 1 for example in examples)


def test_a_base_without_texts_is_asked_for_its_relations(tmp_path: Path) -> None:
    nodes = [("film", f"Film {word}", {}) for word in WORDS] + [("person", f"Ada {word}", {}) for word in WORDS]
    edges = [(at, "MADE_BY", len(WORDS) + at // 2) for at in range(len(WORDS))]
    examples = made_of(tools_of(tmp_path, *base_of(nodes, edges)), 60)
    assert len(examples) == 60
    assert {example.slices["kind"] for example in examples} <= {one.kind for one in KINDS if one.source == "graph"}


@pytest.mark.parametrize("fields", [{}, {"text": "A lantern of cobalt glass by the jetty, lit with birch oil."}])
def test_a_base_of_one_node_gives_what_its_text_gives(tmp_path: Path, fields: dict[str, str]) -> None:
    tools = tools_of(tmp_path, *base_of([("thing", "Only", fields)]))
    log: list[str] = []
    examples = list(synthesise(tools, 5, 0, RunContext(log=log.append)))
    if fields:
        assert [example.answers for example in examples] == [("n0000",)] * 5
    else:
        assert examples == []
        assert log == ["There is nothing to ask about: no node has an edge, a text or a field that may be asked for."]


def test_a_base_that_has_no_more_to_give_says_how_much_it_gave(tmp_path: Path) -> None:
    nodes = [("a", "Eins", {}), ("b", "Zwei", {})]
    tools = tools_of(tmp_path, *base_of(nodes, [(0, "zu", 1)], language="xx"))
    log: list[str] = []
    examples = list(synthesise(tools, 1_000, 0, RunContext(log=log.append)))
    assert 0 < len(examples) < 100
    assert log == [f"The base gave {len(examples)} different questions; 1,000 were wanted."]


def test_names_of_any_script_are_asked_with_in_the_words_of_the_base(tmp_path: Path) -> None:
    nodes = [
        ("映画", "千と千尋の神隠し", {}),
        ("映画", "もののけ姫", {}),
        ("人", "宮崎駿", {}),
        ("人", "Étienne Ångström", {}),
    ]
    edges = [(0, "監督", 2), (1, "監督", 2), (0, "脚本", 3)]
    tools = tools_of(tmp_path, *base_of(nodes, edges, language="ja"))
    examples = made_of(tools, 10)
    assert examples
    english = {"which", "what", "find", "the", "of", "that", "with", "who"}
    for example in examples:
        assert not set(normalised(example.text).split()) & english, example.text
        assert any(name in example.text for _, name, _ in nodes)


def test_equal_texts_are_answers_together(tmp_path: Path) -> None:
    text = "A lantern of cobalt glass by the jetty, lit with birch oil."
    other = "An iris in the harbour at the fjord, drawn on amber grain."
    nodes = [("thing", "One", {"t": text}), ("thing", "Two", {"t": text}), ("thing", "Three", {"t": other})]
    for example in made_of(tools_of(tmp_path, *base_of(nodes)), 30):
        assert example.answers in {("n0000", "n0001"), ("n0002",)}


def test_nodes_that_share_a_name_are_all_meant(tmp_path: Path) -> None:
    nodes = [("film", "Amber", {}), ("film", "Birch", {}), ("person", "Ada Holm", {}), ("person", "Ada Holm", {})]
    tools = tools_of(tmp_path, *base_of(nodes, [(0, "BY", 2), (1, "BY", 3)]))
    asked = [example for example in made_of(tools, 40) if "ada holm" in example.text.lower()]
    assert {example.answers for example in asked} == {("n0000", "n0001")}


def test_making_questions_can_be_cancelled(tmp_path: Path) -> None:
    tools = tools_of(tmp_path, *demo("products"))
    cancelled = False
    making = synthesise(tools, 1_000, 0, RunContext(limit=Limit(cancelled=lambda: cancelled)))
    assert next(making).answers
    cancelled = True
    with pytest.raises(RunCancelled):
        list(making)


_NAMES = st.text(min_size=1, max_size=8)
_NODES = st.lists(
    st.tuples(
        st.sampled_from(["a", "b b", "c_d", "{o}"]), _NAMES,
        st.dictionaries(st.sampled_from(["t", "n", "d", "k"]), st.just(""), max_size=0)
        | st.fixed_dictionaries({"t": st.text(max_size=80)})
        | st.fixed_dictionaries({"n": st.integers(-5, 3000), "d": st.sampled_from(["2004-05-06", "soon", ""])})
        | st.fixed_dictionaries({"k": st.sampled_from(["red", "Blue {p}", ""])}),
    ),
    min_size=1, max_size=12,
)  # fmt: skip
_EDGES = st.lists(
    st.tuples(st.integers(0, 11), st.sampled_from(["R", "made by", "{wh}"]), st.integers(0, 11)), max_size=20
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(nodes=_NODES, edges=_EDGES, language=st.sampled_from(["en", "de", "ja"]))
def test_any_base_gives_questions_with_all_their_answers_or_none(
    tmp_path_factory: pytest.TempPathFactory,
    nodes: list[tuple[str, str, dict[str, object]]],
    edges: list[tuple[int, str, int]],
    language: str,
) -> None:
    kept = [(source, relation, target) for source, relation, target in edges if max(source, target) < len(nodes)]
    kinds = {"n": "number", "d": "date", "k": "keyword"}
    graph, schema = base_of(nodes, kept, language=language, fields=kinds)
    tools = tools_of(tmp_path_factory.mktemp("base"), graph, schema)
    maker = Maker(tools, Base.of(tools))
    chance = np.random.default_rng(0)
    for node in graph.nodes:
        question = maker.question(node, chance)
        if question is None:
            continue
        wanted = oracle.answers(graph, schema, question.draft)
        exact = question.draft.ways or question.draft.filters
        assert set(question.answers) == wanted if exact else {node.key} <= set(question.answers) <= wanted
        said = f" {normalised(question.text)} "
        assert not [name for key in question.answers for name in names_of(graph.nodes[key]) if f" {name} " in said]
