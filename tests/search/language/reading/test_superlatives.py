"""What comes first in an order: word, direction, scale and number, written by hand."""

import pytest

from search.language.cues import Superlative
from search.language.reading import read_cues


def only(text: str) -> Superlative:
    [superlative] = read_cues(text).superlatives
    return superlative


@pytest.mark.parametrize(
    ("text", "said", "word", "direction", "first_name", "unit", "limit"),
    [
        ("What's the heaviest boat?", "heaviest", "heavy", "desc", "weight", "mass", 1),
        ("the lightest tent", "lightest", "light", "asc", "weight", "mass", 1),
        ("the most expensive lamp", "the most expensive", "expensive", "desc", "price", "money", 1),
        ("the least expensive lamp", "the least expensive", "expensive", "asc", "price", "money", 1),
        ("dearest coat", "dearest", "dear", "desc", "price", "money", 1),
        ("the three newest reports", "three newest", "new", "desc", "date", "date", 3),
        ("the newest three reports", "newest three", "new", "desc", "date", "date", 3),
        ("the page that was edited longest ago", "longest ago", "long ago", "asc", "date", "date", 1),
        ("second oldest museum", "second oldest", "old", "asc", "date", "date", 2),
        ("most recently edited page", "most recently", "recent", "desc", "date", "date", 1),
        ("their most recent paper", "most recent", "recent", "desc", "date", "date", 1),
        ("the latest version", "latest", "late", "desc", "date", "date", 1),
        ("the first asthma drug to be approved", "first", "first", "asc", "date", "date", 1),
        ("the last film by Bo Ek", "last", "last", "desc", "date", "date", 1),
        ("which film is the longest", "longest", "long", "desc", "length", "", 1),
        ("oldest volume of the press", "oldest", "old", "asc", "date", "date", 1),  # no volume is measured
        ("highest price", "highest price", "price", "desc", "price", "money", 1),
        ("highest rated tent", "highest rated", "highly rated", "desc", "rating", "", 1),
        ("best known song", "best known", "well known", "desc", "popularity", "", 1),
        ("top 3 lamps by price", "top 3", "price", "desc", "price", "money", 3),
        ("Which lamp costs the most?", "costs the most", "cost", "desc", "price", "money", 1),
        ("what weighs least", "weighs least", "weigh", "asc", "weight", "mass", 1),
        ("which is heavier, the Glow or the Lantern?", "heavier", "heavy", "desc", "weight", "mass", 1),
        ("paper with the highest citation count", "highest", "high", "desc", "citation count", "", 1),
        ("lamps sorted by price", "sorted by price", "price", "asc", "price", "money", 0),
        ("tents, cheapest first", "cheapest first", "cheap", "asc", "price", "money", 0),
    ],
)
def test_a_property_is_ordered(
    text: str, said: str, word: str, direction: str, first_name: str, unit: str, limit: int
) -> None:
    found = only(text)
    assert (text[found.start : found.end], found.word, found.direction) == (said, word, direction)
    assert (found.scale[0], found.unit, found.limit, found.counted) == (first_name, unit, limit, None)


@pytest.mark.parametrize(
    ("text", "counted", "direction", "limit"),
    [
        ("which brand has the most products", "products", "desc", 1),
        ("who has the fewest side effects", "side effects", "asc", 1),
        ("the effect listed for the largest number of drugs", "drugs", "desc", 1),
        ("which store has the biggest range", "range", "desc", 1),
        ("biggest selection of lamps", "lamps", "desc", 1),
        ("most cited paper on ice", "cited", "desc", 1),
        ("the five most widely prescribed pills", "prescribed", "desc", 5),
        ("top ten tools by citations", "citations", "desc", 10),
        ("which tool has been cited most often", "cited", "desc", 1),
        ("top five most cited papers", "cited", "desc", 5),
        ("the biggest brand by number of products", "products", "desc", 1),
    ],
)
def test_what_is_counted_is_known_by_its_place(text: str, counted: str, direction: str, limit: int) -> None:
    found = only(text)
    assert found.counted is not None
    assert text[found.counted[0] : found.counted[1]] == counted
    assert (found.direction, found.limit) == (direction, limit)


def test_a_bare_most_has_no_word() -> None:
    found = only("which shop sells most")
    assert (found.word, found.counted, found.direction) == ("", None, "desc")


def test_a_superlative_outside_the_lists_keeps_its_base_form() -> None:
    assert only("the shiniest lamp").word == "shiny"
    assert only("the crispest toast").scale == ()


@pytest.mark.parametrize(
    "text",
    [
        "papers of general interest",
        "at most 5 lamps",
        "pages last edited in 2025",
        "the First Workshop on Bias",
        "first author of the paper",
        "films of the last year",
        "lamps that last more than 20 hours",
        "which lamps last over a day",
        "how long does it last",
        "most of the lamps",
        "birds of the forest",
    ],
)
def test_words_that_only_look_like_it_order_nothing(text: str) -> None:
    assert read_cues(text).superlatives == ()
