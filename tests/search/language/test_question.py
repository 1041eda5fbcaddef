"""A question read around the names in it."""

from dataclasses import replace

import pytest

from search.interfaces import Mention
from search.language.names import Named
from search.language.question import MOST_WORDS, AnalysedQuestion
from search.language.reading import read_cues


def question(text: str, *names: str, spoken: frozenset[str] = frozenset()) -> AnalysedQuestion:
    named = []
    for name in names:
        mention = Mention(text.index(name), text.index(name) + len(name), name, (0,), (True,))
        named.append(Named(mention, len(name.split()), False, True, True, False))
    return AnalysedQuestion(text, named, spoken)


def test_names_are_masked_by_the_types_they_play() -> None:
    asked = question("films by Ann Arbor starring Cy Clone", "Ann Arbor", "Cy Clone")
    assert asked.masked([(0, "person"), (1, "actor")]) == "films by [person] starring [actor]"
    assert asked.masked([(1, "person")]) == "films by Ann Arbor starring [person]"


def test_words_of_the_names_used_are_left_out() -> None:
    asked = question("films by Ann Arbor starring Cy Clone", "Ann Arbor", "Cy Clone")
    assert [word.text for word in asked.without((0,)).content] == ["films", "starring", "cy", "clone"]
    assert [word.text for word in asked.without((0, 1)).words] == ["films", "by", "starring"]


def test_words_are_met_outward_from_the_name() -> None:
    asked = question("who directed films starring Cy Clone in years of drama", "Cy Clone")
    reading = asked.without((0,))
    met = [reading.content[at].text for at in reading.outward(asked.names[0].mention.start)]
    assert met == ["starring", "films", "directed", "years", "drama"]


def test_words_of_asking_count_where_the_schema_says_them() -> None:
    text = "which person has known types"
    assert [word.text for word in question(text).without(()).content] == []
    assert [word.text for word in question(text, spoken=frozenset({"person"})).without(()).content] == ["person"]


def test_a_long_text_is_read_to_a_limit() -> None:
    assert len(question("film " * 1000).without(()).words) == MOST_WORDS


def test_an_expression_of_several_words_is_one_word() -> None:
    text = "which metabolites take part in the cycle"
    start = text.index("take")
    asked = AnalysedQuestion(text, (), expressions=[(start, start + len("take part"))])
    assert [word.text for word in asked.without(()).content] == ["metabolites", "take part", "cycle"]


def test_an_expression_of_words_without_content_has_none() -> None:
    text = "tools that belong to the suite"
    start = text.index("belong")
    asked = AnalysedQuestion(text, (), expressions=[(start, start + len("belong to"))])
    assert [word.text for word in asked.without(()).content] == ["tools", "suite"]


def test_an_expression_of_nothing_but_function_words_is_the_word_that_it_stands_for() -> None:
    text = "what is Zole used for"
    start = text.index("used")
    asked = AnalysedQuestion(text, (), expressions=[(start, len(text))])
    assert [word.text for word in asked.without(()).content] == ["zole", "used for"]


def test_a_turning_word_before_a_number_keeps_its_sense() -> None:
    """*Not from 2018* turns the year; *no more than 5* is a comparison and turns nothing."""
    text = "papers not from 2018"
    (turning,) = AnalysedQuestion(text, (), cues=read_cues(text)).turnings
    assert (text[turning.start : turning.end], text[slice(*turning.scope)]) == ("not", "from 2018")
    text = "papers of no more than 5 pages"
    assert AnalysedQuestion(text, (), cues=read_cues(text)).turnings == ()


@pytest.mark.parametrize(
    ("text", "names", "described"),
    [
        ("warm socks", ["socks"], ["warm"]),
        ("show me warm dry socks from Norway", ["socks", "Norway"], ["warm", "dry"]),
        ("which warm socks are there", ["socks"], ["warm"]),
        ("warm winter socks", ["winter", "socks"], ["warm"]),
        ("socks that are warm", ["socks"], []),
        ("starring Cy Clone", ["Cy Clone"], []),
        ("who liked Cy Clone", ["Cy Clone"], []),
        ("how warm Cy Clone is", ["Cy Clone"], []),
        ("warm dry things", [], []),
    ],
)
def test_words_before_the_head_of_a_bare_phrase_describe_it(text: str, names: list[str], described: list[str]) -> None:
    assert [word.text for word in question(text, *names).before_its_head()] == described


def test_attributes_say_nothing_about_how_answers_and_names_are_connected() -> None:
    asked = replace(question("warm socks", "socks"), attributes=[(0, 4)])
    assert asked.masked([(0, "category")]) == " [category]"
    assert asked.without((0,)).words == ()


@pytest.mark.parametrize(
    ("text", "content", "topics"),
    [
        ("papers about whistling after 2015", ["papers", "whistling", "2015"], ["whistling"]),
        ("papers on the sea ice of fjords", ["papers", "sea", "ice", "fjords"], ["sea", "ice", "fjords"]),
        # Alone behind *on*, a word of asking is what the papers are about; before another word it asks.
        ("short papers on search", ["short", "papers", "search"], ["search"]),
        ("papers on known fjords", ["papers", "fjords"], ["fjords"]),
        ("tell me about something", [], []),
    ],
)
def test_what_a_text_is_about_stands_behind_a_topical_word(text: str, content: list[str], topics: list[str]) -> None:
    asked = question(text)
    assert [word.text for word in asked.said if word.content] == content
    assert [word.text for word in asked.topics] == topics


def test_an_expression_in_a_scope_is_said_though_its_words_have_no_content() -> None:
    text = "tools that do not belong to the suite"
    start = text.index("belong")
    asked = replace(question(text, "suite"), expressions=[(start, start + len("belong to"))])
    assert [word.text for word in asked.said_in((start, len(text)))] == ["belong to"]
    assert asked.content_in((start, len(text))) == []


@pytest.mark.parametrize(
    ("text", "content"),
    [
        ("I count every gram. What is there from Vik?", ["vik"]),
        ("My feet are cold! Anything by Vik?", ["vik"]),
        # What is wanted, and what no later sentence makes a question of, is asked for.
        ("I need something for tea. What is there from Vik?", ["tea", "vik"]),
        ("It keeps tea hot. What is there from Vik?", ["keeps", "tea", "hot", "vik"]),
        ("My feet are cold. Any ideas?", ["feet", "cold"]),
    ],
)
def test_a_sentence_that_tells_of_who_asks_has_no_content(text: str, content: list[str]) -> None:
    asked = question(text, *(["Vik"] if "Vik" in text else []))
    assert [word.text for word in asked.said if word.content] == content
