"""The prompts of the methods that expand questions: HyDE, RAR and AGR (prompts/expansion), and KAR (prompts/kar).

What these prompts ask for follows KAR (Xia et al. 2025, appendix A); their wording is our own. The system message is
the same for all questions to a knowledge base, so that servers can reuse it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from search.domain.conversation import Message, Prompt
from search.domain.graph import Schema
from search.domain.question import LONGEST_QUESTION
from search.prompts.briefing import MOST_FIELDS, Briefing
from search.prompts.files import PromptFiles, fingerprint
from search.text import words

_files = PromptFiles()


def structure_lines(schema: Schema) -> str:
    """Return one line for each shown node type: the lines that the documents of its nodes may have."""
    lines = []
    for node_type in Briefing(schema).types:
        fields = [words(one.name) for one in node_type.fields[:MOST_FIELDS]]
        joined = [kind.relation for kind in schema.relation_types if node_type.name in (kind.source, kind.target)]
        relations = list(dict.fromkeys(map(words, joined)))[:MOST_FIELDS]
        held = "; ".join([f"{words(node_type.name)}: its name", *fields, *relations])
        lines.append(f"- {held}")
    return "\n".join(lines)


@dataclass(frozen=True)
class ExpansionPrompts:
    """Prompts over one schema. Each method returns `samples` prompts that differ only in the number of their sample."""

    schema: Schema
    files: PromptFiles = field(default=_files)

    @cached_property
    def system(self) -> str:
        """The system message of the prompts that ask for documents."""
        return self.files.render("expansion/system.md", structure=structure_lines(self.schema))

    def ask(
        self,
        name: str,
        question: str,
        samples: int = 1,
        temperature: float = 0.0,
        *,
        purpose: str = "",
        **slots: str,
    ) -> list[Prompt]:
        """Return prompts of the file `prompts/expansion/NAME.md`, with their slots filled. Raises PromptFault."""
        return self._sampled(f"expansion/{name}.md", purpose or name, question, samples, temperature, slots)

    def expand(self, question: str, knowledge: str, samples: int, temperature: float) -> list[Prompt]:
        """Return the prompts of KAR's last step: a document from entries and the edges between them."""
        return self._sampled("kar/expand.md", "kar", question, samples, temperature, {"knowledge": knowledge})

    def entities(self, question: str, most: int, json_schema: Mapping[str, Any]) -> Prompt:
        """Return the prompt that asks which entries a question names (KAR's first step)."""
        system = self.files.render("kar/entities.md", structure=structure_lines(self.schema), most=str(most))
        user = self.files.render("kar/question.md", question=question[:LONGEST_QUESTION])
        version = fingerprint(system, self.files.text("kar/question.md"))
        return Prompt(_messages(system, user), version, "entities", json_schema)

    def _sampled(
        self, file: str, purpose: str, question: str, samples: int, temperature: float, slots: Mapping[str, str]
    ) -> list[Prompt]:
        user = self.files.render(file, question=question[:LONGEST_QUESTION], **slots)
        version = fingerprint(self.system, self.files.text(file))
        messages = _messages(self.system, user)
        return [Prompt(messages, version, purpose, temperature=temperature, sample=at) for at in range(samples)]


def _messages(system: str, user: str) -> tuple[Message, ...]:
    return (Message("system", system), Message("user", user))


def entities_schema(schema: Schema, most: int) -> dict[str, Any]:
    """Return the JSON schema of the answer about entities; types are those of the knowledge base."""
    item = {
        "type": "object",
        "properties": {
            "type": {"type": "string", "enum": [node_type.name for node_type in Briefing(schema).types]},
            "name": {"type": "string"},
            "document": {"type": "string"},
        },
        "required": ["type", "name", "document"],
        "additionalProperties": False,
    }
    return {
        "type": "object",
        "properties": {"entities": {"type": "array", "items": item, "maxItems": most}},
        "required": ["entities"],
        "additionalProperties": False,
    }
