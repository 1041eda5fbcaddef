"""An expanded question: the text that is searched in place of the question, and where each part of it comes from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from search.domain.cutting import shares, shortened
from search.domain.evidence import Path
from search.domain.graph import Node
from search.domain.question import LONGEST_QUESTION, Question
from search.domain.trace import StepStatus

Source = Literal["question", "document", "triple", "model", "gloss"]
"""Origin of a part: the question itself, a node's document, a triple of the graph, a language model, or a gloss: the
question read word by word in the language of the knowledge base."""
BETWEEN = "\n\n"
"""What separates the parts in the searched text; no part contains it."""


@dataclass(frozen=True, slots=True)
class ExpansionPart:
    """A part of the searched text.

    `node` is the node of a document, `path` the walk of a triple. `cut` is the number of characters that were cut off
    its end.
    """

    text: str
    source: Source
    node: Node | None = None
    path: Path | None = None
    cut: int = 0

    def to_json(self) -> dict[str, Any]:
        """Return the part with references to its nodes; `node` and `path` are null where there is none."""
        return {
            "source": self.source,
            "text": self.text,
            "node": self.node.to_json() if self.node else None,
            "path": self.path.to_json() if self.path else None,
            "cut": self.cut,
        }


@dataclass(frozen=True)
class Expansion:
    """The text that is searched: the question, then the parts that a method adds to it.

    `left_out` is the number of parts that did not fit. `detail`, `status` and `prompt_fingerprint` are those of the
    step that made it: see `search.domain.trace.Step`.
    """

    parts: tuple[ExpansionPart, ...]
    left_out: int = 0
    detail: str = ""
    status: StepStatus = "ok"
    prompt_fingerprint: str = ""

    @classmethod
    def of(cls, question: Question, added: Sequence[ExpansionPart], *, each: int, total: int, **told: Any) -> Expansion:
        """Return the question with the added parts, cut to what retrieval can use.

        A part has at most `each` characters. If all parts together have more than `total`, the longest are cut further,
        so that none crowds out the others; empty parts are left out. `detail` says what was cut. `told` holds values of
        further fields.
        """
        flat = [replace(part, text=_flat(part.text)) for part in added]
        filled = [part for part in flat if part.text]
        room = shares([min(len(part.text), each) for part in filled], total)
        cut = [_shortened(part, characters) for part, characters in zip(filled, room, strict=True)]
        kept = [part for part in cut if part.text]
        own = _shortened(ExpansionPart(_flat(question.text), "question"), LONGEST_QUESTION)
        sentences = [told.pop("detail", ""), _cut_sentence([own, *cut])]
        detail = " ".join(sentence for sentence in sentences if sentence)
        return cls((own, *kept), len(filled) - len(kept), detail=detail, **told)

    @property
    def text(self) -> str:
        """The text that is searched."""
        return BETWEEN.join(part.text for part in self.parts)

    @property
    def added(self) -> tuple[ExpansionPart, ...]:
        """The parts that are not the question."""
        return tuple(part for part in self.parts if part.source != "question")

    def asked(self, question: Question) -> Question:
        """Return the question with the searched text in place of its own, for a retrieving stage."""
        return replace(question, text=self.text)

    def to_json(self) -> dict[str, Any]:
        """Return the text that is searched, its parts, and the number of parts left out."""
        return {"text": self.text, "parts": [part.to_json() for part in self.parts], "left_out": self.left_out}


def _shortened(part: ExpansionPart, most: int) -> ExpansionPart:
    text = shortened(part.text, most)
    return replace(part, text=text, cut=part.cut + len(part.text) - len(text))


def _flat(text: str) -> str:
    """Return a text without empty lines, and without what Postgres cannot store."""
    clean = text.replace("\x00", " ").encode("utf-8", "replace").decode()
    return "\n".join(line.strip() for line in clean.splitlines() if line.strip())


def _cut_sentence(parts: Sequence[ExpansionPart]) -> str:
    kept, cut = sum(len(part.text) for part in parts), sum(part.cut for part in parts)
    return f"Of the {kept + cut:,} characters of the longer text, {kept:,} are searched." if cut else ""
