"""Finding the JSON object in what a model wrote."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from search.domain.model_reply import UnreadableReply, read_object, without_thinking

PLAN = '{"anchors": [], "target": {"var": "T"}}'
READ = {"anchors": [], "target": {"var": "T"}}


@pytest.mark.parametrize(
    "text",
    [
        PLAN,
        f"  \n{PLAN}\n",
        f"```json\n{PLAN}\n```",
        f"```\n{PLAN}\n```",
        f"Here is the plan:\n```JSON\n{PLAN}\n```\nIt has no anchors.",
        f"Sure! {PLAN} I hope this helps {{really}}.",
        f'<think>Perhaps {{"anchors": 1}}? No.</think>{PLAN}',
        f"<THINKING>\nhm\n</THINKING>\n\n{PLAN}",
        f'I begin with {{"anchors": 2}} and think.</think>\n{PLAN}',
        '{"anchors": [], "target": {"var": "T",},}',
        f"{{}} is empty, so: {PLAN}",
        f"Use {{braces}} well: {PLAN}",
    ],
)
def test_an_object_is_found_whatever_stands_around_it(text: str) -> None:
    assert read_object(text) == READ


def test_a_comma_inside_a_string_stays() -> None:
    assert read_object('{"text": "a,}", "b": [1,2,]}') == {"text": "a,}", "b": [1, 2]}


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "The answer is empty."),
        ("<think>I wonder", "The answer holds thinking and nothing else."),
        ("I cannot do that.", "The answer holds no JSON object."),
        ("[1, 2]", "The answer holds no JSON object."),
        ('{"anchors": [{"var": "A1", "te', "The answer begins a JSON object that does not end or is not JSON."),
        ('{"a": NaN}', "The answer begins a JSON object that does not end or is not JSON."),
        ("{" * 5_000, "The answer begins a JSON object that does not end or is not JSON."),
        ('{"a":' * 50_000, "The answer begins a JSON object that does not end or is not JSON."),
        ('{"a": ' + "9" * 5_000 + "}", "The answer begins a JSON object that does not end or is not JSON."),
    ],
)
def test_what_holds_no_object_is_a_sentence(text: str, sentence: str) -> None:
    with pytest.raises(UnreadableReply) as caught:
        read_object(text)
    assert str(caught.value) == sentence


def test_half_characters_are_replaced_so_that_a_plan_can_be_stored() -> None:
    assert read_object('{"text": "\\ud800 and \\ud83c\\udfac"}') == {"text": "? and 🎬"}


def test_thinking_that_never_ends_is_taken_off() -> None:
    assert without_thinking("before <think>after") == "before"


@settings(max_examples=100)
@given(st.text(alphabet=st.sampled_from('{}[]",:\\ntrue0<think>/`\n '), max_size=200))
def test_any_text_gives_an_object_or_a_sentence(text: str) -> None:
    try:
        found: object = read_object(text)
    except UnreadableReply as error:
        found = str(error)
    assert isinstance(found, dict) or str(found).endswith(".")
