"""Finds the node type, relation, field or value that a word means, if it can mean only one."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from search.domain.graph import ANY, Direction, Field, Schema
from search.domain.mending.words import ANYTHING

_ARROWS = re.compile(
    r"^\s*(<-+|←|\^|~|-+>|→|-+\[:?|inverse[ _]of\b|reverse[ _]of\b)?\s*(.*?)\s*"
    r"(\]?-+>|→|\]?-+|←|\^-1|⁻¹|[ _(]+inverse\)?|[ _(]+reversed?\)?)?\s*$",
    re.IGNORECASE | re.DOTALL,
)
"""Matches a relation as a model may write it; groups: the marks before the name, the name, the marks after it."""
LONGEST_COMPARED_NAME = 200
_BACKWARDS = ("<-", "←", "^", "~", "inverse", "reverse", "⁻¹")


def fold(name: str) -> str:
    """Return the form of a name that is compared: only its letters and digits, in lower case."""
    return "".join(character for character in name.casefold() if character.isalnum())


class NameBook:
    """The names, aliases and wordings of a schema, folded."""

    def __init__(self, schema: Schema) -> None:
        self.schema = schema
        self._types = _index((t.name, said) for t in schema.node_types for said in (t.name, *t.aliases))
        self._relations = _index(
            (r.name, said) for r in schema.relations for said in (r.name, *r.aliases, r.description)
        )
        self._inverses = _index((r.name, said) for r in schema.relations for said in (r.inverse,))

    def type_of(self, written: str) -> str | None:
        """Return the node type that a word means, or `*` for any type; None if it means no type or several."""
        if written in self.schema.type_codes or written == ANY:
            return written
        meant = _only(self._types, _singulars(fold(written)))
        return ANY if meant is None and fold(written) in ANYTHING else meant

    def relation_of(self, written: str, near: str, far: str) -> tuple[str, Direction | None] | None:
        """Return the relation that a word means between two types, and the direction if the word says one, else None.

        `near` and `far` are node types or `*`. Returns None if the word means no relation, or several that fit.
        """
        if written in self.schema.relation_codes or written == ANY:
            return written, None
        if len(written) > LONGEST_COMPARED_NAME:
            return None
        match = _ARROWS.match(written)
        before, core, after = (
            (match.group(1) or "", match.group(2), match.group(3) or "") if match else ("", written, "")
        )
        if fold(core) in ANYTHING and fold(core) not in self._relations:
            return ANY, None
        backwards = any(mark in (before + after).casefold() for mark in _BACKWARDS)
        for index, direction in ((self._relations, "in" if backwards else None), (self._inverses, "in")):
            names = {name for form in _singulars(fold(core)) for name in index.get(form, ())}
            exact = {name for name in names if fold(name) == fold(core)}
            fitting = {name for name in exact or names if self.directions(name, near, far)}
            if len(fitting or exact or names) == 1:
                name = next(iter(fitting or exact or names))
                said: Direction | None = "in" if direction else None
                return name, said if self._has_two_ways(name, near, far) else None
            if names:
                return None
        return None

    def directions(self, relation: str, near: str, far: str) -> set[Direction]:
        """Return the directions in which a hop over the relation can lead from one type to another."""
        ways: set[Direction] = set()
        for kind in self.schema.relation_types:
            if relation not in (kind.relation, ANY):
                continue
            ways |= {way for start, end, way in kind.ways if near in (start, ANY) and far in (end, ANY)}
        return ways

    def field_of(self, written: str, label: str) -> Field | None:
        """Return the field that a word means on nodes of a type (`*`: any type); None if it means none or several."""
        types = [t for t in self.schema.node_types if label in (t.name, ANY)]
        fields = {f.name: f for t in types for f in t.fields}
        if written in fields:
            return fields[written]
        meant = {name for name in fields for form in _singulars(fold(written)) if fold(name) in (form, f"{form}s")}
        return fields[meant.pop()] if len(meant) == 1 else None

    def _has_two_ways(self, relation: str, near: str, far: str) -> bool:
        return len(self.directions(relation, near, far)) > 1


def as_kind(value: Any, kind: str) -> Any:
    """Return a filter's value converted to the kind of its field if the conversion is certain, else the same value."""
    if kind == "number" and isinstance(value, str):
        text = value.strip().replace(",", "") if value.count(",") == 1 and value[-4:-3] == "," else value.strip()
        try:
            number = float(text)
        except ValueError:
            return value
        return (
            value if number != number or abs(number) == float("inf") else int(number) if number.is_integer() else number
        )
    if kind in ("keyword", "text", "date") and isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return value


def _index(pairs: Iterable[tuple[str, str]]) -> dict[str, set[str]]:
    """Return folded word or its singular → names. Plurals are not added: a look-up also tries the word's singulars."""
    index: dict[str, set[str]] = defaultdict(set)
    for name, said in pairs:
        for form in _singulars(fold(said)):
            index[form].add(name)
    return index


def _only(index: dict[str, set[str]], forms: list[str]) -> str | None:
    """Return the only name that a word means, or None. The word itself is tried before its singulars.

    If a form is both a name and an alias, the name is taken.
    """
    for form in forms:
        if names := index.get(form):
            meant = {name for name in names if fold(name) == form} or names
            return next(iter(meant)) if len(meant) == 1 else None
    return None


def _singulars(word: str) -> list[str]:
    """Return a folded word and its possible singular forms."""
    forms = [word] if word else []
    if word.endswith("ies") and len(word) > 4:
        forms.append(f"{word[:-3]}y")
    if word.endswith("es") and len(word) > 4:
        forms.append(word[:-2])
    if word.endswith("s") and not word.endswith("ss") and len(word) > 3:
        forms.append(word[:-1])
    return forms
