"""The recorded text that was searched in place of a question."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class ExpandedPayload:
    """The text that was searched, its parts as `ExpansionPart.to_json` wrote them, and how many parts did not fit."""

    text: str
    parts: tuple[Mapping[str, Any], ...]
    left_out: int

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> ExpandedPayload:
        """Return what `Expansion.to_json` wrote."""
        parts = tuple(
            {name: part[name] for name in ("source", "text", "node", "path", "cut")} for part in data["parts"]
        )
        return cls(str(data["text"]), parts, int(data["left_out"]))

    def to_json(self) -> dict[str, Any]:
        """Return it as it was recorded."""
        return {"text": self.text, "parts": [dict(part) for part in self.parts], "left_out": self.left_out}
