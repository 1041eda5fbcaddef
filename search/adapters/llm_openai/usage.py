"""Reads responses of `chat/completions`: the text of a choice, and the tokens that the server counted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from search.domain.budget import estimated_tokens

MOST_TOKENS = 2**31


def text_of(choice: Mapping[str, Any]) -> str:
    """Return a choice's text, which some servers send in parts, without NUL and lone surrogates (not storable)."""
    message = choice.get("message")
    content = message.get("content") if isinstance(message, dict) else choice.get("text")
    if isinstance(content, list):
        content = "".join(part.get("text") or "" for part in content if isinstance(part, dict) and _is_text(part))
    if not isinstance(content, str):
        return ""
    return content.replace("\x00", "�").encode("utf-8", "replace").decode()


def reported_tokens(data: Mapping[str, Any]) -> dict[str, int]:
    """Return the tokens that a server counted, by kind: `prompt`, `completion`, and `cached`, a part of `prompt`.

    Cached tokens of the prompt stand in `prompt_tokens_details.cached_tokens` (OpenAI, vLLM), in
    `prompt_cache_hit_tokens` (DeepSeek), or in `timings.cache_n` beside the usage (llama.cpp). Kinds that the server
    does not report are missing.
    """
    usage, timings = _mapping(data.get("usage")), _mapping(data.get("timings"))
    details = _mapping(usage.get("prompt_tokens_details"))
    cached = (details.get("cached_tokens"), usage.get("prompt_cache_hit_tokens"), timings.get("cache_n"))
    counts = {
        "prompt": usage.get("prompt_tokens"),
        "completion": usage.get("completion_tokens"),
        "cached": next((count for count in cached if _is_count(count)), None),
    }
    found = {kind: count for kind, count in counts.items() if count is not None and _is_count(count)}
    if not found.get("cached"):
        found.pop("cached", None)
    return found


def spent_tokens(data: Any, characters: int) -> dict[str, int]:
    """Return the tokens of a prompt of `characters` and its response: the server's own counts, or estimates."""
    if not isinstance(data, dict):
        return {"prompt": estimated_tokens(characters)}
    choices = data.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices and isinstance(choices[0], dict) else {}
    estimated = {"prompt": estimated_tokens(characters), "completion": estimated_tokens(len(text_of(choice)))}
    return estimated | reported_tokens(data)


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < MOST_TOKENS


def _is_text(part: Mapping[str, Any]) -> bool:
    return isinstance(part.get("text"), str)
