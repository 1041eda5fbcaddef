"""Finds the JSON object in what a language model wrote: thinking, fences and small talk around it are taken off."""

from __future__ import annotations

import json
import re
from typing import Any

MOST_TEXT = 200_000
"""Characters of an answer that are looked at."""
MOST_TRIES = 200
"""Opening braces at which an object is tried."""
MOST_DEPTH = 20
MOST_INTEGER = 2**63

_THINKING = re.compile(r"<(think|thinking|thought|reasoning)\b[^>]*>.*?</\1\s*>", re.DOTALL | re.IGNORECASE)
_THOUGHT_UNTIL = re.compile(r"\A.*</(?:think|thinking|thought|reasoning)\s*>", re.DOTALL | re.IGNORECASE)
_STILL_THINKING = re.compile(r"<(?:think|thinking|thought|reasoning)\b[^>]*>.*\Z", re.DOTALL | re.IGNORECASE)
_FENCED = re.compile(r"```[a-zA-Z0-9_-]*[ \t]*\n(.*?)```", re.DOTALL)
_STRING_OR_COMMA = re.compile(r'"(?:[^"\\]|\\.)*"|,(?=\s*[}\]])', re.DOTALL)


class Unreadable(ValueError):
    """The text holds no JSON object; the message is a sentence that says what it holds instead."""


def without_thinking(text: str) -> str:
    """Return an answer without its thinking: whole blocks, one that only ends, one that never ends."""
    text = _THINKING.sub("", text)
    text = _THOUGHT_UNTIL.sub("", text)
    return _STILL_THINKING.sub("", text).strip()


def read_object(text: str) -> dict[str, Any]:
    """Return the JSON object that an answer consists of or contains, fenced or not.

    Of several the first is taken that is not empty. A comma before a closing bracket is forgiven. Strings come back
    without half characters (lone surrogates), so that they can be stored. Raises Unreadable.
    """
    answer = without_thinking(text[:MOST_TEXT])
    if not answer:
        raise Unreadable("The answer is empty." if not text.strip() else "The answer holds thinking and nothing else.")
    for candidate in [*_FENCED.findall(answer), answer]:
        found = _first_object(candidate)
        if found is not None:
            return found
    if "{" not in answer:
        raise Unreadable("The answer holds no JSON object.")
    raise Unreadable("The answer begins a JSON object that does not end or is not JSON.")


def _first_object(text: str) -> dict[str, Any] | None:
    text = _STRING_OR_COMMA.sub(lambda match: match.group() if match.group() != "," else "", text)
    decoder = json.JSONDecoder(parse_constant=_refuse)
    at = text.find("{")
    empty: dict[str, Any] | None = None
    for _ in range(MOST_TRIES):
        if at < 0:
            break
        try:
            value, end = decoder.raw_decode(text, at)
            value = _clean(value, 0)
        except (ValueError, RecursionError):
            end = at + 1
        else:
            if value:
                return dict(value)
            empty = {}
        at = text.find("{", end)
    return empty


def _clean(value: Any, depth: int) -> Any:
    if depth > MOST_DEPTH:
        raise ValueError("nested too deeply")
    if isinstance(value, dict):
        return {_clean(key, depth): _clean(item, depth + 1) for key, item in value.items()}
    if isinstance(value, list):
        return [_clean(item, depth + 1) for item in value]
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, int) and abs(value) > MOST_INTEGER:
        raise ValueError("too large a number")
    return value


def _refuse(constant: str) -> Any:
    raise ValueError(f"{constant} is not JSON")
