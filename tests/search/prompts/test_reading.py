"""Reading answers of language models: what is found in them, and the sentences about what is wrong."""

from __future__ import annotations

import json
import time

import pytest

from search.prompts.reading import Reader, Unusable, fault_lines, json_by, one_of, text_within, value_in

SCHEMA = {
    "type": "object",
    "properties": {
        "type": {"type": "string", "enum": ["product", "brand"]},
        "triplets": {
            "type": "array",
            "maxItems": 3,
            "items": {
                "type": "object",
                "properties": {"from": {"type": "string", "maxLength": 5}, "score": {"type": "number", "maximum": 1}},
                "required": ["from"],
                "additionalProperties": False,
            },
        },
    },
    "required": ["type", "triplets"],
    "additionalProperties": False,
}
RIGHT = {"type": "brand", "triplets": [{"from": "x"}]}


def refused(read: Reader, text: str) -> list[tuple[str, str]]:
    with pytest.raises(Unusable) as caught:
        read(text)
    return [(fault.pointer, fault.sentence) for fault in caught.value.faults]


@pytest.mark.parametrize(
    "written",
    [
        "{}",
        "```json\n{}\n```",
        "Sure! Here it is:\n```\n{}\n```\nAnything else?",
        "<think>Perhaps {{'a': 1}}?</think> The answer is {} as asked.",
    ],
)
def test_an_object_is_found_bare_fenced_and_between_words(written: str) -> None:
    assert json_by(SCHEMA)(written.replace("{}", json.dumps(RIGHT), 1)) == RIGHT


def test_keys_that_the_schema_does_not_know_are_left_out_at_every_depth() -> None:
    chatty = {"type": "brand", "remark": "I am sure", "triplets": [{"from": "x", "why": "because"}]}
    assert json_by(SCHEMA)(json.dumps(chatty)) == RIGHT


def test_prose_and_a_cut_off_object_are_refused_with_a_sentence() -> None:
    assert refused(json_by(SCHEMA), "I would look for brands.") == [("", "The answer holds no JSON object.")]
    assert refused(json_by(SCHEMA), '{"type": "brand", "trip') == [
        ("", "The answer begins a JSON object that does not end or is not JSON.")
    ]


def test_every_fault_of_a_wrong_shape_is_named_with_its_place() -> None:
    wrong = {"type": "brands", "triplets": [{"score": 2}, {"from": "far too long"}, {"from": 7}, "x"]}
    assert refused(json_by(SCHEMA), json.dumps(wrong)) == [
        ("/triplets", "The list has 4 entries, more than 3."),
        ("/triplets/0", "'from' is missing."),
        ("/triplets/0/score", "2 must be at most 1."),
        ("/triplets/1/from", "The text has 12 characters, more than 5."),
        ("/triplets/2/from", "Expected a text, not 7."),
        ("/triplets/3", "Expected an object, not 'x'."),
        ("/type", "'brands' is none of 'product', 'brand'."),
    ]


def test_faults_repeat_no_long_values_and_become_lines_of_a_prompt() -> None:
    [(place, said)] = refused(json_by(SCHEMA), json.dumps(RIGHT | {"type": "b" * 100_000}))
    assert place == "/type"
    assert len(said) < 200
    with pytest.raises(Unusable) as caught:
        json_by(SCHEMA)('{"type": "brand"}')
    assert fault_lines(caught.value.faults) == "- 'triplets' is missing."


def test_a_judge_may_answer_with_a_word_or_a_short_sentence_but_not_with_both_words() -> None:
    judge = one_of(("yes", "no"))
    assert [judge(text) for text in ("yes", "No.", "```\nYES\n```", "The answer is no, surely.")] == [
        "yes", "no", "yes", "no",
    ]  # fmt: skip
    assert "none of them" in refused(judge, "Nobody knows; yesterday it rained.")[0][1]
    assert "several of them" in refused(judge, "yes and no")[0][1]


def test_text_is_cut_at_a_word_and_an_empty_one_refused() -> None:
    assert text_within(12)("  A quiet\nriver bend  ") == "A quiet"
    assert text_within(3)("abcdef") == "abc"
    assert text_within(40)("<think>hm</think>A river.") == "A river."
    assert refused(text_within(10), " \n")[0][1] == "The answer is empty."
    assert refused(text_within(10), "<think>still thinking")[0][1] == "The answer holds thinking and nothing else."


@pytest.mark.parametrize("text", ["again " * 20_000, "{" * 100_000, '{"a": [' * 20_000, "```json\n" * 12_000])
def test_a_hundred_thousand_characters_are_read_or_refused_at_once(text: str) -> None:
    began = time.process_time()
    with pytest.raises(Unusable):
        json_by(SCHEMA)(text)
    with pytest.raises(Unusable):
        one_of(("yes", "no"))(text)
    assert len(text_within(500)(text)) <= 500
    assert time.process_time() - began < 2


@pytest.mark.parametrize(
    ("answer", "value"),
    [
        ('{"score": 0.5}', 0.5),
        ('Sure:\n```json\n{"score": "0.5"}\n```', "0.5"),
        (' "0.5". ', "0.5"),
        ("<think>Perhaps 1?</think>\n0.5", "0.5"),
        ('{"other": 1}', None),
    ],
)
def test_a_value_is_read_from_json_or_stands_alone(answer: str, value: object) -> None:
    assert value_in(answer, "score") == value
