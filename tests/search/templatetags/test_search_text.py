"""Filters of the templates."""

from urllib.parse import parse_qs, unquote, urlsplit

import pytest
from django.urls import resolve

from search.templatetags import search_text
from tests.search.small import ODD_IDS


@pytest.mark.parametrize(
    ("text", "question", "html"),
    [
        ("Cold drinks stay", "a drink, cold?", "<mark>Cold</mark> <mark>drinks</mark> stay"),
        ("Which of the two", "which of the three", "Which of the two"),
        ("Held up, but by ice", "who lived but not by ice", "Held up, but by <mark>ice</mark>"),
        ('<b>cold</b> & "dry"', "cold", "&lt;b&gt;<mark>cold</mark>&lt;/b&gt; &amp; &quot;dry&quot;"),
        ("Æblegrød på bordet", "ÆBLEGRØD", "<mark>Æblegrød</mark> på bordet"),
        ("", "anything", ""),
    ],
)
def test_words_of_the_question_are_marked_and_everything_else_is_escaped(text: str, question: str, html: str) -> None:
    assert search_text.marked(text, question) == html


def test_a_word_of_markup_in_the_question_marks_nothing_into_being() -> None:
    assert search_text.marked("<script>alert(1)</script>", "<script> alert") == (
        "&lt;<mark>script</mark>&gt;<mark>alert</mark>(1)&lt;/<mark>script</mark>&gt;"
    )


@pytest.mark.parametrize(
    ("said", "html"),
    [
        ("no model is configured; text only", "No model is configured; text only."),
        ("Nothing was asked.", "Nothing was asked."),
        ("`index_kb NAME` makes <them>", "<code>index_kb NAME</code> makes &lt;them&gt;."),
        ("a ` alone & unclosed", "A ` alone &amp; unclosed."),
        ("", ""),
    ],
)
def test_what_a_stage_says_is_a_sentence_with_its_commands_as_code(said: str, html: str) -> None:
    assert search_text.sentence(said) == html


@pytest.mark.parametrize(
    ("value", "text"), [(None, ""), (0.35, "0.3 ms"), (9.96, "10.0 ms"), (61.7, "62 ms"), (1240.0, "1.24 s")]
)
def test_durations_have_three_digits_at_most(value: float | None, text: str) -> None:
    assert search_text.milliseconds(value) == text


@pytest.mark.parametrize(
    ("value", "text"), [(None, ""), (0.0, "0 %"), (0.004, "< 1 %"), (0.826, "83 %"), (1.0, "100 %")]
)
def test_a_small_probability_is_not_shown_as_none(value: float | None, text: str) -> None:
    assert search_text.percent(value) == text


def test_scores_that_a_list_does_not_have_are_dashes() -> None:
    assert (search_text.score(None), search_text.score(0.583333), search_text.score(2.0, 3)) == ("–", "0.5833", "2.000")


@pytest.mark.parametrize("node_id", [*ODD_IDS, "plain", "/", "a//b", "./x"])
def test_an_address_leads_back_to_the_id_it_was_made_of_without_segments_that_browsers_fold(node_id: str) -> None:
    address = urlsplit(search_text.entity_url("films", node_id))

    assert not {"", ".", ".."} & set(address.path.strip("/").split("/"))
    asked = parse_qs(address.query).get("id")
    found = asked[0] if asked else resolve(unquote(address.path)).kwargs["node_id"]
    assert found == node_id
