"""Turning words and what they turn: stretches written by hand."""

import pytest

from search.language.reading import read_cues


@pytest.mark.parametrize(
    ("text", "turned", "kind"),
    [
        ("tents not made of wool", ["made of wool"], "not"),
        ("Which boats can't be hired in any harbour at all?", ["be hired in any harbour"], "not"),
        ("reports nobody has read yet", ["has read"], "lack"),
        ("pills that have no known risk at all", ["risk"], "lack"),
        ("lamps without a battery that run for two days", ["battery"], "lack"),
        ("Without using wool, which jackets are warm?", ["using wool"], "lack"),
        ("what is in the collection besides maps", ["maps"], "except"),
        ("everything by Halcyon except tents, lamps and mats", ["tents, lamps and mats"], "except"),
        ("writers other than those who live in Japan", ["those who live in Japan"], "except"),
        ("tools but not databases", ["databases"], "except"),
        ("Apart from Holland, where are its shops?", ["Holland"], "except"),
        ("cotton rather than wool", ["wool"], "except"),
        ("cotton instead of wool", ["wool"], "except"),
        ("excluding France, which countries sell it?", ["France"], "except"),
        ("films not shot by Ada or Bo and released in 2004", ["shot by Ada or Bo"], "not"),
        ("Which genes do not bind TP53 or MYC and are linked to cancer?", ["bind TP53 or MYC"], "not"),
        ("neither wool nor cotton", ["wool", "cotton"], "not"),
        ("papers that were never cited", ["cited"], "not"),
        ("goods that no shop sells", ["shop sells"], "lack"),
        ("none of the shops in Paris", ["shops in Paris"], "lack"),
        ("rings free of nickel", ["nickel"], "lack"),
        ("Which rugs without tassels did Ada Ott design?", ["tassels"], "lack"),
        ("Which rugs not made of jute does Halcyon sell?", ["made of jute"], "not"),
        ("films that no critic did review", ["critic"], "lack"),
        ("soaps lacking perfume", ["perfume"], "lack"),
        ("museums outside Europe", ["Europe"], "not"),
        ("gluten-free bread", ["gluten"], "lack"),
        ("sugar free drinks", ["sugar"], "lack"),
        ("uncited papers", ["cited"], "not"),
        ("non-toxic paint", ["toxic"], "not"),
        ("I don't like wool. Which jackets are there?", ["wool"], "not"),
        ("Which drugs don’t bind albumin but treat pain?", ["bind albumin"], "not"),
        ("a present, not a lamp", ["lamp"], "not"),
        ("papers cited by nobody", ["cited by"], "lack"),
        ("products sold everywhere but Japan", ["Japan"], "except"),
        ("papers Ada Lund didn't write", ["Ada Lund didn't write"], "not"),
        ("lamps by Halcyon aren't red", ["red"], "not"),
        ("has not published since 2015", ["published since 2015"], "not"),
    ],
)
def test_a_turning_word_turns_its_clause(text: str, turned: list[str], kind: str) -> None:
    turnings = read_cues(text).turnings
    assert [text[turning.scope[0] : turning.scope[1]] for turning in turnings] == turned
    assert {turning.kind for turning in turnings} == {kind}


@pytest.mark.parametrize(
    "text",
    [
        "Isn't there a film about cats?",
        "not only lamps",
        "I can't find a lamp that floats",
        "no more than five pages",
        "lamps not under 20 euros",
        "no cheaper than the Glow",
        "universities in the United Kingdom",
        "wireless lamps under water",
        "an endless summer",
        "nothing but wool",
        "free software",
        "whether or not it rains",
    ],
)
def test_words_that_only_look_like_it_turn_nothing(text: str) -> None:
    assert read_cues(text).turnings == ()


def test_the_word_itself_is_known_by_its_place() -> None:
    text = "rings other than gold ones"
    [turning] = read_cues(text).turnings
    assert text[turning.start : turning.end] == "other than"


def test_five_hundred_negations_are_read_one_by_one() -> None:
    turnings = read_cues("not wool " * 500).turnings
    assert len(turnings) == 500
    assert all(turning.scope[1] - turning.scope[0] == len("wool") for turning in turnings)
