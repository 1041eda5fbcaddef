"""The text that was searched in place of the question, part by part, with where each part comes from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from search.text import path_text

Json = Mapping[str, Any]

SOURCES: Mapping[str, str] = {
    "question": "The question", "document": "Document", "triple": "Relation", "model": "Written by the language model",
    "gloss": "The question, word by word",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class ShownPart:
    """A part of the searched text; `name` and `id` are those of a document's node, `walk` is that of a triple."""

    source: str
    text: str
    name: str = ""
    id: str = ""
    walk: str = ""
    cut: int = 0


@dataclass(frozen=True, slots=True)
class ShownExpansion:
    """The whole searched text, and its parts. `added` is the number of parts that are not the question."""

    text: str
    parts: tuple[ShownPart, ...]
    left_out: int = 0

    @property
    def added(self) -> int:
        """The number of parts that are not the question."""
        return len(self.parts) - 1


def show_expansion(search: Json) -> ShownExpansion | None:
    """Return the searched text of a described search; None if the question itself was searched."""
    expansion = search.get("expansion")
    if not expansion:
        return None
    return ShownExpansion(expansion["text"], tuple(map(_part, expansion["parts"])), expansion["left_out"])


def _part(part: Json) -> ShownPart:
    node, path = part["node"] or {}, part["path"] or ()
    return ShownPart(
        SOURCES.get(part["source"], part["source"]), part["text"], node.get("name", ""), node.get("id", ""),
        path_text(path), part["cut"],
    )  # fmt: skip
