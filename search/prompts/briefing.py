"""The description of one knowledge base in a prompt: its types, relations, fields and some of its names."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from search.domain.graph import Field, NodeType, RelationType, Schema

MOST_TYPES = 60
MOST_RELATIONS = 150
MOST_FIELDS = 30
SHOWN_NAMES = 4
"""Names of each type that are shown."""
MOST_NAME_CHARACTERS = 70
"""Characters of a name that are shown."""


@dataclass(frozen=True)
class Briefing:
    """A knowledge base as a prompt describes it to a planner.

    `names` holds names of some nodes by type. `domain` selects the guidance in `prompts/plan/guidance/`. If `guidance`,
    which belongs to the knowledge base itself, is not empty, it is used instead.
    """

    schema: Schema
    title: str = ""
    description: str = ""
    domain: str = ""
    names: Mapping[str, Sequence[str]] = field(default_factory=dict)
    guidance: str = ""

    @property
    def types(self) -> tuple[NodeType, ...]:
        """The node types that are shown; if there are too many, those with the most nodes."""
        shown = [node_type for node_type in self.schema.node_types if not node_type.hidden]
        if len(shown) > MOST_TYPES:
            shown = sorted(shown, key=lambda node_type: (-node_type.count, node_type.name))[:MOST_TYPES]
        return tuple(shown)

    @property
    def relation_types(self) -> tuple[RelationType, ...]:
        """The relation types between shown node types, in the order of the schema; of many, the most frequent ones."""
        known = {node_type.name for node_type in self.types}
        shown = [kind for kind in self.schema.relation_types if kind.source in known and kind.target in known]
        if len(shown) > MOST_RELATIONS:
            most = sorted(shown, key=lambda kind: -kind.count)[:MOST_RELATIONS]
            shown = [kind for kind in shown if kind in most]
        return tuple(shown)

    def about(self) -> str:
        """Return a line that describes the knowledge base."""
        said = ": ".join(part for part in (self.title, " ".join(self.description.split())) if part)
        language = "" if self.schema.language in ("", "en") else f" Its language is {self.schema.language}."
        return (said or "A knowledge base of typed entities with text.") + language

    def type_lines(self) -> str:
        """Return the node types with their fields and some names, one entry for each."""
        return "\n".join(self._type(node_type) for node_type in self.types)

    def relation_lines(self) -> str:
        """Return the relation types with counts and wordings in both directions, one line for each."""
        return "\n".join(self._relation(kind) for kind in self.relation_types) or "There are none: plan without hops."

    def _type(self, node_type: NodeType) -> str:
        answer = "" if node_type.answerable else "; never the answer"
        also = f"; also called {', '.join(node_type.aliases[:6])}" if node_type.aliases else ""
        lines = [f"- {node_type.name} ({node_type.count:,} nodes{answer}{also})"]
        if node_type.description:
            lines.append(f"  {' '.join(node_type.description.split())}")
        if node_type.fields:
            lines.append(f"  fields: {_fields(node_type.fields)}")
        if shown := [quoted(name) for name in self.names.get(node_type.name, ())[:SHOWN_NAMES]]:
            lines.append(f"  named like: {', '.join(shown)}")
        return "\n".join(lines)

    def _relation(self, kind: RelationType) -> str:
        relation = self.schema.relation(kind.relation)
        line = f"- {kind.source} -{kind.relation}-> {kind.target} ({kind.count:,} edges)"
        worded = []
        if relation.description:
            worded.append(f"a {kind.source} {relation.description} a {kind.target}")
        if relation.inverse and relation.inverse != relation.description:
            worded.append(f"a {kind.target} {relation.inverse} a {kind.source}")
        if relation.aliases:
            worded.append(f"also called {', '.join(relation.aliases[:6])}")
        if relation.fields:
            worded.append(f"fields of the edge: {_fields(relation.fields)}")
        return f"{line}: {'; '.join(worded)}" if worded else line


def _fields(fields: Sequence[Field]) -> str:
    return ", ".join(f"{f.name} ({'list of ' if f.many else ''}{f.kind})" for f in fields[:MOST_FIELDS])


def quoted(text: Any) -> str:
    """Return a name in quotes on one line, shortened if it is long."""
    flat = " ".join(str(text).split())
    cut = flat if len(flat) <= MOST_NAME_CHARACTERS else f"{flat[:MOST_NAME_CHARACTERS].rstrip()}…"
    return json.dumps(cut, ensure_ascii=False)
