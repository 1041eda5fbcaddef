"""Names that a question says by an everyday word, in an index of names."""

from dataclasses import replace
from pathlib import Path

import pytest

from search.adapters import field_values, mentions_memmap, values_memmap
from search.domain.graph import Field, Node
from search.language.everyday import everyday_names, everyday_values
from search.language.names import find_names
from tests.graphs import schema_of
from tests.oracle import Graph

NAMES = [
    "Netherlands",
    "Hypertension",
    "Sudden infant death syndrome",
    "Blood",
    "Backpacks",
    "United States",
    "Vomiting",
    "Product",
]


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> mentions_memmap.MemmapMentions:
    folder: Path = tmp_path_factory.mktemp("names")
    mentions_memmap.build(folder, ((key, name, False) for key, name in enumerate(NAMES)))
    return mentions_memmap.MemmapMentions(folder)


def everyday(index: mentions_memmap.MemmapMentions, text: str, code: str = "en", least: int = 1) -> dict[str, str]:
    found = everyday_names(text, 0, len(text), index, code, least)
    assert all(text[one.start : one.end] == one.text for one in found)
    assert {one.how for one in found} <= {"synonym"}
    assert all(0.5 < one.similarity < 0.9 and all(one.exact) for one in found)
    return {one.text: NAMES[one.keys[0]] for one in found}


@pytest.mark.parametrize(
    ("text", "said", "meant"),
    [
        ("universities in Holland", "Holland", "Netherlands"),
        ("DUTCH BRANDS", "DUTCH", "Netherlands"),
        ("pills for high blood pressure", "high blood pressure", "Hypertension"),
        ("genes behind crib death", "crib death", "Sudden infant death syndrome"),
        ("shops in the US", "US", "United States"),
        ("remedies that make you throw up", "throw up", "Vomiting"),
    ],
)
def test_an_everyday_word_leads_to_the_name(
    index: mentions_memmap.MemmapMentions, text: str, said: str, meant: str
) -> None:
    assert everyday(index, text)[said] == meant


@pytest.mark.parametrize(
    "text",
    [
        "",
        "?!",
        "tell us all",
        "who lives in the Netherlands",
        "dead cribs",
        "blood",
        "colour of the wind",
        "the stuff that glows",
    ],
)
def test_names_and_other_words_need_no_everyday_word(index: mentions_memmap.MemmapMentions, text: str) -> None:
    assert everyday(index, text) == {}


def test_a_language_without_a_list_has_none(index: mentions_memmap.MemmapMentions) -> None:
    assert everyday(index, "universities in Holland", "ko") == {}


def test_only_long_enough_stretches_count(index: mentions_memmap.MemmapMentions) -> None:
    assert everyday(index, "high blood pressure in Holland", least=2) == {"high blood pressure": "Hypertension"}


def test_an_expression_of_several_words_beats_the_name_inside_it(index: mentions_memmap.MemmapMentions) -> None:
    """Otherwise the question would be about blood."""
    found = find_names("pills for high blood pressure", index, frozenset(), 5)
    assert [(one.mention.text, one.mention.meant, one.how) for one in found] == [
        ("high blood pressure", "hypertension", "synonym")
    ]
    exact = find_names("pills for hypertension", index, frozenset(), 5)
    assert found[0].sure < 0.7
    assert exact[0].mention.similarity == 1


def test_a_language_without_a_list_still_finds_the_names(index: mentions_memmap.MemmapMentions) -> None:
    found = find_names("high blood pressure", index, frozenset(), 5, "ko")
    assert [one.mention.text for one in found] == ["blood"]


@pytest.fixture(scope="module")
def values(tmp_path_factory: pytest.TempPathFactory) -> values_memmap.MemmapValues:
    """Three tools with a state and a price in words."""
    tools = [("Mature", "Free of charge"), ("Legacy", "Free of charge"), ("Legacy", "Commercial")] * 3
    nodes = tuple(
        Node(key, f"t{key}", "tool", f"Tool {key}", fields={"maturity": maturity, "cost": cost})
        for key, (maturity, cost) in enumerate(tools)
    )
    plain = schema_of(Graph(nodes, ()))
    fields = (Field("maturity", "keyword", coverage=9), Field("cost", "keyword", coverage=9))
    schema = replace(plain, node_types=(replace(plain.node_types[0], fields=fields),))
    folder: Path = tmp_path_factory.mktemp("values")
    field_values.build(folder, schema, nodes)
    return values_memmap.MemmapValues(folder, schema)


@pytest.mark.parametrize(
    ("text", "said", "meant"),
    [
        ("outdated tools", "outdated", ("maturity", "Legacy")),
        ("tools at no cost", "at no cost", ("cost", "Free of charge")),
        ("paid tools", "paid", ("cost", "Commercial")),
        ("well established tools", "well established", ("maturity", "Mature")),
    ],
)
def test_an_everyday_word_leads_to_the_value(
    values: values_memmap.MemmapValues, text: str, said: str, meant: tuple[str, str]
) -> None:
    [found] = everyday_values(text, [(0, len(text))], values, "en")
    assert (found.text, text[found.start : found.end]) == (said, said)
    assert (found.field, found.value) == meant
    assert 0.5 < found.similarity < 0.9


@pytest.mark.parametrize("text", ["", "red tools", "legacy tools"])
def test_other_words_lead_to_no_value(values: values_memmap.MemmapValues, text: str) -> None:
    """*Legacy* is the value itself: the index finds it without an everyday word."""
    assert everyday_values(text, [(0, len(text))], values, "en") == []


def test_several_words_in_lower_case_may_be_meant_otherwise_than_a_name_in_capitals(tmp_path: Path) -> None:
    names = [
        (0, "Cancer Research", False),
        (1, "Oncology", False),
        (2, "Heart Attack", True),
        (2, "Myocardial infarction", False),
    ]
    mentions_memmap.build(tmp_path, names)
    index = mentions_memmap.MemmapMentions(tmp_path)
    assert [one.keys for one in everyday_names("apps for cancer research", 0, 24, index, "en", 2)] == [(1,)]
    assert everyday_names("papers in Cancer Research", 0, 25, index, "en", 2) == []
    # Another name of what they name adds nothing.
    assert everyday_names("drugs for heart attack", 0, 22, index, "en", 2) == []
