"""A question read around the names in it."""

from search.interfaces import Mention
from search.language.names import Named
from search.language.question import MOST_WORDS, AnalysedQuestion


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
