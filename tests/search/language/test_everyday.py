"""Names that a question says by an everyday word, in an index of names."""

from pathlib import Path

import pytest

from search.adapters import mentions_memmap
from search.language.everyday import everyday_names
from search.language.names import find_names

NAMES = [
    "Netherlands",
    "Hypertension",
    "Sudden infant death syndrome",
    "Blood",
    "Backpacks",
    "United States",
    "Vomiting",
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
    assert all(0.5 < one.similarity < 0.9 and not any(one.exact) for one in found)
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
    "text", ["", "?!", "tell us all", "who lives in the Netherlands", "dead cribs", "blood", "colour of the wind"]
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
