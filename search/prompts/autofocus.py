"""The prompts of AF-Retriever and FocusedRetriever (both papers, appendices on prompts: the same slots, new wording).

Everything that is the same for all questions stands in the system message, and a judge's question before the
descriptions, so that a server can reuse what it has read of a prompt.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from search.domain.conversation import Message, Prompt
from search.domain.cypher.check import visible_types
from search.domain.errors import Fault
from search.domain.graph import NodeType, Schema
from search.domain.question import LONGEST_QUESTION
from search.domain.triplets import quoted
from search.prompts.files import PromptFiles, fingerprint
from search.prompts.reading import fault_lines

SHOWN_ANSWER = 4_000
"""Characters of a faulty query that the repair prompt repeats."""
MOST_TYPES, MOST_RELATIONS, MOST_FIELDS = 60, 150, 30
_FILES = PromptFiles()


@dataclass(frozen=True)
class AutofocusPrompts:
    """Prompts for the type of the answer and for the Cypher query.

    `concealed` names node types that the model is not shown (AF-Retriever, appendix A.6.5). With `properties` the
    fields of each type are listed, as FocusedRetriever does.
    """

    schema: Schema
    concealed: Collection[str] = ()
    properties: bool = False
    files: PromptFiles = field(default=_FILES)

    def target(self, question: str, labels: Sequence[str]) -> Prompt:
        """Return the prompt that asks for the node type of the answers, one of `labels`."""
        kinds = [self.schema.node_type(label) for label in labels[:MOST_TYPES]]
        system = self.files.render("af/target.md", types="\n".join(_type_line(kind) for kind in kinds))
        answer = {"type": {"type": "string", "enum": [kind.name for kind in kinds]}}
        return _prompt(system, self._asked(question, ""), "target type", answer)

    def cypher(self, question: str, labels: Sequence[str]) -> Prompt:
        """Return the prompt that asks for a query; `labels` is the predicted type of the answers, if there is one."""
        label = quoted(labels[0]) if len(labels) == 1 else ""
        wanted = f"The answers are of the type (y:{label})." if label else ""
        return _prompt(self.system, self._asked(question, wanted), "cypher", {"cypher": {"type": "string"}})

    def repair(self, prompt: Prompt, answer: str, faults: Sequence[Fault]) -> Prompt:
        """Return the conversation continued by a faulty query and its faults."""
        asked = self.files.render("af/repair.md", faults=fault_lines(faults))
        return prompt.then(Message("assistant", answer[:SHOWN_ANSWER] or "{}"), Message("user", asked))

    @cached_property
    def system(self) -> str:
        """The system message for queries: labels, relationships, properties, rules, an example."""
        shown = visible_types(self.schema, self.concealed)
        kinds = [kind for kind in self.schema.relation_types if kind.source in shown and kind.target in shown]
        if len(kinds) > MOST_RELATIONS:
            kinds = sorted(kinds, key=lambda kind: -kind.count)[:MOST_RELATIONS]
        types = [self.schema.node_type(name) for name in shown[:MOST_TYPES]]
        return self.files.render(
            "af/cypher.md",
            labels="\n".join(_type_line(kind) for kind in types),
            relations="\n".join(
                f"- (:{quoted(k.source)})-[:{quoted(k.relation)}]->(:{quoted(k.target)})" for k in kinds
            ) or "- none: return y without any relationship",
            properties=self._property_lines(types),
        )  # fmt: skip

    def _property_lines(self, types: Sequence[NodeType]) -> str:
        if not self.properties:
            return "\nAny property of a node may be used; every node has a `name`.\n"
        lines = []
        for kind in types:
            fields = [f"{quoted(one.name)} ({one.kind})" for one in kind.fields[:MOST_FIELDS]]
            lines.append(f"- {quoted(kind.name)}: {', '.join(['name', *fields])}")
        return "\n".join(["\nProperties; there are no others:", *lines, ""])

    def _asked(self, question: str, wanted: str) -> str:
        return self.files.render("af/question.md", wanted=wanted, question=_flat(question)).strip()


@dataclass(frozen=True)
class JudgePrompts:
    """Prompts that ask a model to judge described candidates (step 8)."""

    files: PromptFiles = field(default=_FILES)

    def point(self, question: str, description: str) -> Prompt:
        """Return the prompt that asks for the score of one candidate."""
        answer = {"score": {"type": "number", "minimum": 0, "maximum": 1}}
        return _prompt(self.files.text("af/point.md"), self._asked(question, description), "score", answer)

    def list(self, question: str, descriptions: Sequence[str]) -> Prompt:
        """Return the prompt that asks for the order of all candidates; they are numbered from 1."""
        answer = {"order": {"type": "array", "items": {"type": "integer"}}}
        asked = self._asked(question, _numbered(descriptions))
        return _prompt(self.files.text("af/list.md"), asked, "order", answer)

    def pair(self, question: str, first: str, second: str) -> Prompt:
        """Return the prompt that asks which of two candidates is the better one."""
        answer = {"better": {"type": "integer", "enum": [1, 2]}}
        asked = self._asked(question, _numbered([first, second]))
        return _prompt(self.files.text("af/pair.md"), asked, "compare", answer)

    def _asked(self, question: str, descriptions: str) -> str:
        return self.files.render("af/judged.md", question=_flat(question), descriptions=descriptions)


def _prompt(system: str, asked: str, purpose: str, properties: Mapping[str, Any]) -> Prompt:
    schema = {
        "type": "object", "properties": dict(properties), "required": list(properties), "additionalProperties": False,
    }  # fmt: skip
    version = fingerprint(system, json.dumps(schema, sort_keys=True))
    return Prompt((Message("system", system), Message("user", asked)), version, purpose, schema)


def _type_line(kind: NodeType) -> str:
    also = f", also called {', '.join(kind.aliases[:6])}" if kind.aliases else ""
    return f"- {quoted(kind.name)}{also}" + (f": {_flat(kind.description)}" if kind.description else "")


def _numbered(descriptions: Sequence[str]) -> str:
    return "\n\n".join(f"{number}.\n{text}" for number, text in enumerate(descriptions, 1))


def _flat(text: str) -> str:
    return " ".join(text[:LONGEST_QUESTION].split())
