"""Reads the answers of language models: JSON by a schema, one of several words, plain text.

Each function returns a reader: answer → value. A reader raises Unusable, whose faults are sentences that a person and
the model itself can read. `search.asking` sends prompts and uses a reader for each answer.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError

from search.domain.cutting import shortened
from search.domain.errors import Fault, nearest, pointer
from search.domain.model_reply import UnreadableReply, read_object, without_thinking

T = TypeVar("T")
Reader = Callable[[str], T]
MOST_FAULTS = 20
"""Most faults of one answer that are listed."""
SHOWN = 80
"""Characters of a faulty value that a sentence repeats."""
_TYPES = {
    "object": "an object", "array": "a list", "string": "a text", "number": "a number", "integer": "a whole number",
    "boolean": "true or false", "null": "null",
}  # fmt: skip


class Unusable(ValueError):
    """An answer cannot be used; `faults` says why, with JSON pointers into the answer where it is JSON."""

    def __init__(self, *faults: Fault | str) -> None:
        self.faults = tuple(Fault("", fault) if isinstance(fault, str) else fault for fault in faults)
        super().__init__(" ".join(_placed(fault) for fault in self.faults[:3]))


def json_by(schema: Mapping[str, Any]) -> Reader[dict[str, Any]]:
    """Return a reader of the JSON object that an answer consists of or contains, fenced or not.

    The object follows the JSON schema (draft 2020-12), except that keys which the schema does not know are left out,
    wherever `additionalProperties` is false: models like to add a remark, and nobody reads it.
    """
    validator = Draft202012Validator(schema)

    def read(text: str) -> dict[str, Any]:
        try:
            found = read_object(text)
        except UnreadableReply as error:
            raise Unusable(str(error)) from None
        known = _known(found, schema)
        faults = [_fault(error) for error in validator.iter_errors(known)]
        if faults:
            raise Unusable(*sorted(faults, key=lambda fault: fault.pointer)[:MOST_FAULTS])
        return dict(known)

    return read


def one_of(words: Sequence[str]) -> Reader[str]:
    """Return a reader of one of several words, as a judge answers; the word may stand in a short sentence.

    The answer must contain exactly one of the words, in upper or lower case, as a whole word.
    """
    pattern = re.compile(rf"(?<!\w)({'|'.join(re.escape(word) for word in words)})(?!\w)", re.IGNORECASE)
    spelled = {word.casefold(): word for word in words}

    def read(text: str) -> str:
        answer = plain_text(text)
        found = {spelled[match.casefold()] for match in pattern.findall(answer)}
        if len(found) != 1:
            said = "none" if not found else "several"
            raise Unusable(f"The answer must contain one of the words {_listed(words)}; it contains {said} of them.")
        return found.pop()

    return read


def text_within(characters: int) -> Reader[str]:
    """Return a reader of plain text, cut between words to at most `characters`; an empty answer is a fault."""

    def read(text: str) -> str:
        answer = " ".join(plain_text(text[: 20 * characters]).split())
        if not answer:
            raise Unusable(
                "The answer is empty." if not text.strip() else "The answer holds thinking and nothing else."
            )
        return shortened(answer, characters)

    return read


def plain_text(text: str) -> str:
    """Return an answer without its thinking and without the code fence that may be around all of it."""
    answer = without_thinking(text)
    fenced = re.fullmatch(r"```[\w-]{0,40}[ \t]*\n(.*?)\n?```", answer, re.DOTALL)
    return fenced[1] if fenced else answer


def value_in(text: str, key: str) -> Any:
    """Return the value of a key in the JSON object of an answer, None if it has no such key.

    Models often write a short value alone: of an answer without JSON, its text without quotes and full stop is it.
    """
    try:
        return read_object(text).get(key)
    except UnreadableReply:
        return plain_text(text).strip(" \n\t\"'`.")


def fault_lines(faults: Sequence[Fault]) -> str:
    """Return faults as lines of a prompt, each with its place in the answer."""
    return "\n".join(f"- {_placed(fault)}" for fault in faults[:MOST_FAULTS])


def _placed(fault: Fault) -> str:
    return f"At {fault.pointer}: {fault.sentence}" if fault.pointer else fault.sentence


def _known(value: Any, schema: Any) -> Any:
    """Return a value without the keys that its schema does not know where it allows no others."""
    if not isinstance(schema, Mapping):
        return value
    if isinstance(value, list):
        return [_known(item, schema.get("items")) for item in value]
    if isinstance(value, dict) and isinstance(properties := schema.get("properties"), Mapping):
        closed = schema.get("additionalProperties") is False
        return {
            key: _known(item, properties.get(key)) for key, item in value.items() if key in properties or not closed
        }
    return value


def _fault(error: ValidationError) -> Fault:
    """Return a fault of the schema as a sentence; the library's own messages repeat whole values, of any length."""
    place = pointer(*error.absolute_path)
    value, wanted = error.instance, error.validator_value
    match error.validator:
        case "required":
            missing = [name for name in wanted if name not in value]
            return Fault(place, f"{_listed(missing)} {'is' if len(missing) == 1 else 'are'} missing.")
        case "type":
            kinds = [wanted] if isinstance(wanted, str) else wanted
            named = " or ".join(_TYPES.get(kind, kind) for kind in kinds)
            return Fault(place, f"Expected {named}, not {_short(value)}.")
        case "enum" | "const":
            choices = [str(choice) for choice in (wanted if error.validator == "enum" else [wanted])]
            close = nearest(value, choices) if isinstance(value, str) else None
            return Fault(place, f"{_short(value)} is none of {_listed(choices)}.", close)
        case "maxItems" | "minItems":
            bound = "more than" if error.validator == "maxItems" else "fewer than"
            return Fault(place, f"The list has {len(value):,} entries, {bound} {wanted:,}.")
        case "maxLength" | "minLength":
            bound = "more than" if error.validator == "maxLength" else "fewer than"
            return Fault(place, f"The text has {len(value):,} characters, {bound} {wanted:,}.")
        case "maximum" | "minimum":
            bound = "at most" if error.validator == "maximum" else "at least"
            return Fault(place, f"{_short(value)} must be {bound} {wanted:g}.")
    return Fault(place, f"{_short(value)} does not follow the schema ({error.validator}).")


def _listed(words: Sequence[str]) -> str:
    shown = ", ".join(repr(word) for word in words[:12])
    return f"{shown} and {len(words) - 12} more" if len(words) > 12 else shown


def _short(value: Any) -> str:
    if isinstance(value, dict | list):
        return f"{_TYPES['object' if isinstance(value, dict) else 'array']} of {len(value):,}"
    said = repr(value[: SHOWN + 1] if isinstance(value, str) else value)
    return said if len(said) <= SHOWN else f"{said[:SHOWN]}…"
