"""Questions read with their language: the gloss, and cues at their places in it."""

from itertools import pairwise

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from search.language.cues import Cues
from search.language.reading import read_cues
from search.language.reading.question import read_question

WORDS = [
    "not", "no", "without", "most", "least", "the", "three", "20", "euros", "under", "than", "as", "before", "2020",
    "last", "years", "nicht", "keine", "plus", "cher", "le", "pas", "more", "first", "top", "by", "of", "Ada", "?", ",",
    "-", "'", "n't", "un", "free", "(", ")", "”", "5", "million", "March", "sin", "más", "日本", "薬",
]  # fmt: skip


def test_an_english_question_stays_as_it_is() -> None:
    text = "Which lamps are not made of wool?"
    read = read_question(text, "en")
    assert (read.text, read.language, read.notes) == (text, "en", ())
    assert read.cues == read_cues(text, "en")


def test_cues_of_a_french_question_stand_in_its_gloss() -> None:
    read = read_question("Quels médicaments coûtent moins de vingt euros et n'ont aucun effet secondaire ?", "en")
    [quantity] = read.cues.quantities
    [turning] = read.cues.turnings
    assert quantity.words[:2] == ("cost", "drugs")
    assert (quantity.op, quantity.low, read.text[quantity.start : quantity.end]) == ("<", 20, "under 20 euros")
    assert read.text[slice(*turning.scope)] == "side effect"
    assert read.cues.whole


def test_a_language_without_cues_of_its_own_is_read_through_its_gloss() -> None:
    read = read_question("最も安いランプはどれですか？", "en")
    [superlative] = read.cues.superlatives
    assert (superlative.word, superlative.direction, read.cues.whole) == ("cheap", "asc", False)
    assert "(ja)" in read.notes[0]


def test_a_language_without_a_dictionary_says_so() -> None:
    read = read_question("천식 치료제는 무엇입니까?", "en")
    assert (read.text, read.cues.whole) == ("천식 치료제는 무엇입니까?", False)
    assert read.notes == ("Of questions in this language (ko) only names and numbers are read.",)


@pytest.mark.parametrize(
    "text",
    [
        "not " * 500,
        "ohne Wolle und " * 500,
        "תרופות מתחת ל-20 אירו, 2020–2021",
        "أدوية أقل من ٢٠ يورو before 2020",
        "x" * 10_000,
        "most " * 2_000,
        "1 to " * 2_000,
        "last 3 years " * 700,
        "¿" * 5_000,
        "日本で" * 3_000,
        "\u202e20 euros under\u202c",
    ],
)
def test_strange_questions_are_read(text: str) -> None:
    read = read_question(text, "en")
    for start, end in stretches(read.cues):
        assert 0 <= start <= end <= len(read.text)


@settings(max_examples=60, deadline=None)
@example("most three most", "en")
@given(
    st.lists(
        st.sampled_from(WORDS),
        max_size=25,
    ).map(" ".join),
    st.sampled_from(["en", "de", "fr", "es"]),
)
def test_every_cue_lies_in_the_text_and_cues_do_not_cross(text: str, code: str) -> None:
    cues = read_cues(text, code)
    for start, end in stretches(cues):
        assert 0 <= start <= end <= len(text)
    for several in (cues.turnings, cues.superlatives, cues.comparisons, cues.quantities, cues.dates):
        places = [(cue.start, cue.end) for cue in several]
        assert all(one[1] <= other[0] for one, other in pairwise(places))


def stretches(cues: Cues) -> list[tuple[int, int]]:
    """Return all stretches that cues speak of."""
    found = [(cue.start, cue.end) for cue in (*cues.turnings, *cues.superlatives, *cues.comparisons)]
    found += [(cue.start, cue.end) for cue in (*cues.quantities, *cues.dates)]
    found += [turning.scope for turning in cues.turnings]
    found += [comparison.reference for comparison in cues.comparisons]
    found += [superlative.counted for superlative in cues.superlatives if superlative.counted]
    return found


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Welcher Staat hat die höchste Bevölkerungsdichte?", "population density"),
        ("welcher staat hat die hoechste bevoelkerungsdichte", "population density"),
    ],
)
def test_a_property_that_a_superlative_names_is_said_in_the_base_s_language(text: str, name: str) -> None:
    schema = frozenset(("state", "population", "density"))
    [superlative] = read_question(text, "en", schema=schema).cues.superlatives
    assert superlative.scale[0] == name


def test_a_clause_behind_a_spanish_superlative_compares_nothing() -> None:
    """*que* is *than* and *that*: behind an article and before a verb it begins a clause."""
    clause = read_question("¿Cuál es el estado más pequeño que limita con Texas?", "en").cues
    than = read_question("estados más pequeños que Texas", "en").cues
    assert (len(clause.superlatives), len(clause.comparisons)) == (1, 0)
    assert (len(than.superlatives), len(than.comparisons)) == (0, 1)


@pytest.mark.parametrize(
    "text", ["Was ist der längste Fluss?", "was ist der laengste fluss", "der langste fluss was ist"]
)
def test_superlatives_are_read_however_they_are_typed(text: str) -> None:
    [superlative] = read_question(text, "en").cues.superlatives
    assert (superlative.direction, superlative.scale[0], superlative.limit) == ("desc", "length", 1)
