"""Reads the body of a response as JSON, also with a byte order mark, and as a stream of events.

Few requests ask for a stream. Some servers stream nevertheless: as server-sent events (the HTML standard, section
9.2.6), or as one JSON object a line. The chunks of such a stream are put together to the response that was asked for.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from search.adapters.llm_openai.usage import text_of

_DATA = "data:"
_LINES = re.compile(r"\r\n|\n|\r")
_END = "[DONE]"
_BLANK = "\ufeff \t\r\n"
"""White space of JSON, and the byte order mark."""


def text_in(content: bytes) -> str:
    """Return the text of a body: UTF-8, or UTF-16 or UTF-32 by its first bytes, without a byte order mark."""
    return content.decode(json.detect_encoding(content), "replace").strip(_BLANK)


def json_in(text: str) -> Any:
    """Return the JSON of a body, or None if it is none or breaks off; the chunks of a stream are put together.

    The text decides what it is, because servers send streams as JSON and JSON as a stream.
    """
    if (whole := _loaded(text)) is not None:
        return whole
    lines = _LINES.split(text)
    if any(line.startswith(_DATA) for line in lines):
        return _joined(_events(lines))
    chunks = [line for line in lines if line.strip(_BLANK)]
    return _joined(chunks) if len(chunks) > 1 else None


def text_so_far(content: bytes) -> str:
    """Return the text of the first choice in what has arrived of a stream; empty if it is no stream."""
    whole_lines = _LINES.split(text_in(content))[:-1]
    chunks = [chunk for event in _events(whole_lines) if isinstance(chunk := _loaded(event), dict)]
    choices = _choices(_parts(chunks))
    return text_of(choices[0]) if choices else ""


def _events(lines: Sequence[str]) -> Iterator[str]:
    """Yield the data of each event; lines of data that stand together without a blank line belong to one event."""
    data: list[str] = []
    for line in [*lines, ""]:
        if line.startswith(_DATA):
            data.append(line.removeprefix(_DATA).removeprefix(" "))
        elif not line and data:
            # Some servers leave out the blank line, so that each line is an event of its own.
            whole = "\n".join(data)
            yield from [whole] if len(data) == 1 or _loaded(whole) is not None else data
            data = []


def _joined(events: Iterable[str]) -> Any:
    """Return the response that the events are parts of; None if one is no JSON object, or the end is missing."""
    chunks, ended = [], False
    for event in events:
        if event.strip(_BLANK) == _END:
            ended = True
            break
        chunk = _loaded(event)
        if not isinstance(chunk, dict):
            return None
        chunks.append(chunk)
    if len(chunks) == 1 and not _parts(chunks):
        return chunks[0]
    # What later chunks say of the whole, such as the tokens used, replaces what earlier ones say.
    whole = {key: value for chunk in chunks for key, value in chunk.items() if value is not None}
    if not chunks or whole.get("error"):
        return whole or None
    choices = _choices(_parts(chunks))
    ended = ended or any(choice["finish_reason"] for choice in choices)
    return {**whole, "choices": choices} if ended else None


def _parts(chunks: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return the parts of choices in chunks: `delta` of chats, `text` of plain completions."""
    listed: list[Mapping[str, Any]] = [
        part for chunk in chunks for part in _list(chunk.get("choices")) if isinstance(part, dict)
    ]
    return listed if any("delta" in part for part in listed) or len(chunks) > 1 else []


def _choices(parts: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the choices with the text of their parts; a part with a whole message replaces what was before it."""
    found: dict[Any, dict[str, Any]] = {}
    for part in parts:
        choice = found.setdefault(
            str(part.get("index", 0)), {"message": {"role": "assistant", "content": ""}, "finish_reason": None}
        )
        if isinstance(message := part.get("message"), dict):
            choice["message"] = dict(message)
        delta = part.get("delta")
        content = delta.get("content") if isinstance(delta, dict) else part.get("text")
        choice["message"]["content"] = _added(choice["message"].get("content"), content)
        choice["finish_reason"] = part.get("finish_reason") or choice["finish_reason"]
    return list(found.values())


def _added(before: Any, content: Any) -> Any:
    """Return a content with another one added: text, or a list of parts as some servers send them."""
    if isinstance(before, str | None) and isinstance(content, str | None):
        return (before or "") + (content or "")
    return [*_as_parts(before), *_as_parts(content)]


def _as_parts(content: Any) -> list[Any]:
    return content if isinstance(content, list) else [{"type": "text", "text": content}] if content else []


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _loaded(text: str) -> Any:
    try:
        return json.loads(text.strip(_BLANK))
    except (ValueError, RecursionError):
        return None
