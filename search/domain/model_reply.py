"""Finds the JSON object in the reply of a language model; thinking, fences and other text around it are ignored."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

LONGEST_REPLY = 200_000
"""Most characters of an answer that are read; the rest is ignored."""
MOST_TRIES = 200
"""Most opening braces at which an object is tried."""
MOST_READ = 8
"""Most characters that failed tries may read, as a multiple of the answer's length."""
MOST_DEPTH = 20
MOST_INTEGER = 2**63

_TAG = re.compile(r"<(/?)(think|thinking|thought|reasoning)\b[^<>]*>", re.IGNORECASE)
_INFO = re.compile(r"[a-zA-Z0-9_-]{0,40}[ \t]{0,40}\n")
"""The rest of the line that opens a fenced block: the name of a language, or nothing."""
_FENCE = "```"
_STRING_OR_COMMA = re.compile(r'"(?:[^"\\]|\\.)*+(?:"|\\?\Z)|,(?=\s*+[}\]])', re.DOTALL)
"""Matches a whole string (the last one even if it has no end), or a comma directly before a closing bracket."""


class UnreadableReply(ValueError):
    """The text contains no JSON object; the message is a sentence that says what it contains instead."""


def without_thinking(text: str) -> str:
    """Return an answer without its thinking: whole blocks, a block without a start tag, a block without an end tag."""
    tags = list(_TAG.finditer(text))
    ends = _next_ends(tags)
    kept: list[str] = []
    loose: list[tuple[int, bool]] = []
    """Tags outside of whole blocks: the number of parts kept before each, and whether it is an end tag."""
    at = skipped = 0
    for place, tag in enumerate(tags):
        if place < skipped:
            continue
        kept.append(text[at : tag.start()])
        end = None if tag[1] else ends[place]
        if end is None:
            loose.append((len(kept), bool(tag[1])))
            at = tag.end()
        else:
            at, skipped = tags[end].end(), end + 1
    kept.append(text[at:])
    first = max((parts for parts, ending in loose if ending), default=0)
    last = min((parts for parts, ending in loose if not ending and parts >= first), default=len(kept))
    return "".join(kept[first:last]).strip()


def _next_ends(tags: Sequence[re.Match[str]]) -> list[int | None]:
    """Return for each tag the position (in `tags`) of the next end tag with the same name, or None."""
    nearest: dict[str, int] = {}
    found: list[int | None] = []
    for place in range(len(tags) - 1, -1, -1):
        name = tags[place][2].casefold()
        found.append(nearest.get(name))
        if tags[place][1]:
            nearest[name] = place
    return found[::-1]


def read_object(text: str) -> dict[str, Any]:
    """Return the JSON object that an answer consists of or contains, fenced or not.

    If there are several objects, the first one that is not empty is returned. A comma before a closing bracket is
    accepted. Lone surrogates in strings are replaced, so that the strings can be stored. Raises UnreadableReply if
    there is no object.
    """
    answer = without_thinking(text[:LONGEST_REPLY])
    if not answer:
        raise UnreadableReply(
            "The answer is empty." if not text.strip() else "The answer holds thinking and nothing else."
        )
    for candidate in [*_fenced(answer), answer]:
        found = _first_object(candidate)
        if found is not None:
            return found
    if "{" not in answer:
        raise UnreadableReply("The answer holds no JSON object.")
    raise UnreadableReply("The answer begins a JSON object that does not end or is not JSON.")


def _fenced(text: str) -> Iterator[str]:
    """Yield the content of each fenced block; a block without an end is ignored."""
    at = text.find(_FENCE)
    while at >= 0:
        info = _INFO.match(text, at + len(_FENCE))
        if info is None:
            at = text.find(_FENCE, at + 1)
            continue
        end = text.find(_FENCE, info.end())
        if end < 0:
            return
        yield text[info.end() : end]
        at = text.find(_FENCE, end + len(_FENCE))


def _first_object(text: str) -> dict[str, Any] | None:
    text = _STRING_OR_COMMA.sub(lambda match: match.group() if match.group() != "," else "", text)
    decoder = json.JSONDecoder(parse_constant=_refuse)
    at, read = text.find("{"), 0
    empty: dict[str, Any] | None = None
    for _ in range(MOST_TRIES):
        # A broken object is tried again from each brace inside it. `MOST_READ` limits how much is read in all.
        if at < 0 or read > MOST_READ * len(text):
            break
        try:
            value, end = decoder.raw_decode(text, at)
            value = _clean(value, 0)
        except (ValueError, RecursionError) as error:
            # Errors about depth, too large numbers or NaN have no position: the text up to its end counts as read.
            read += getattr(error, "pos", len(text)) - at
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
