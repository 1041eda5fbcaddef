"""Settings that the owners of a knowledge base add to its schema: aliases, hidden types, types that may be answers.

The settings are JSON: `{"guidance": text, "types": {name: {"aliases": [text], "hidden": bool, "answerable": bool}},
"relations": {name: {"aliases": [text]}}}`. Every key may be missing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from search.domain.errors import Fault, pointer
from search.domain.graph import NodeType, Relation, Schema
from search.domain.mending.names import fold
from search.domain.unstorable import storable

MOST_ALIASES = 50
LONGEST_ALIAS = 100
LONGEST_GUIDANCE = 20_000

Values = Mapping[str, Any]
"""The settings, or one part of them, as read from JSON."""


def adapted(schema: Schema, values: Values) -> Schema:
    """Return the schema with the settings applied; settings of unknown types and relations are ignored.

    A hidden type is not shown to planners and is never an answer. The codes of types and relations do not change.
    """
    types, relations = _part(values, "types"), _part(values, "relations")
    if not types and not relations:
        return schema
    return replace(
        schema,
        node_types=tuple(_type(t, types.get(t.name, {})) for t in schema.node_types),
        relations=tuple(_relation(r, relations.get(r.name, {})) for r in schema.relations),
    )


def faults_of(values: Values, schema: Schema) -> list[Fault]:
    """Return every fault of the settings, each with its pointer.

    Two types may not share a wording, and neither may two relations: a word must have one meaning.
    """
    guidance = values.get("guidance", "")
    faults = []
    if len(guidance) > LONGEST_GUIDANCE:
        message = f"The guidance has {len(guidance):,} characters; {LONGEST_GUIDANCE:,} are the most."
        faults.append(Fault("/guidance", message))
    if not storable(guidance):
        faults.append(Fault("/guidance", "The guidance contains a NUL character; remove it."))
    called = {t.name: (t.name, *t.aliases) for t in schema.node_types}
    faults += _faults_of_part(_part(values, "types"), called, "types", "type")
    named = {r.name: (r.name, *r.aliases, r.description) for r in schema.relations}
    faults += _faults_of_part(_part(values, "relations"), named, "relations", "relation")
    shown = [t for t in adapted(schema, values).node_types if t.answerable]
    if schema.answerable and not shown:
        faults.append(Fault("/types", "No type is left that may be an answer; let one be."))
    return faults


def _part(values: Values, key: str) -> Mapping[str, Mapping[str, Any]]:
    part = values.get(key)
    return part if isinstance(part, Mapping) else {}


def _type(known: NodeType, own: Values) -> NodeType:
    hidden = bool(own.get("hidden", known.hidden))
    answerable = bool(own.get("answerable", known.answerable)) and not own.get("hidden", False)
    return replace(known, aliases=_more(known.aliases, own), hidden=hidden, answerable=answerable)


def _relation(known: Relation, own: Values) -> Relation:
    return replace(known, aliases=_more(known.aliases, own))


def _more(aliases: Iterable[str], own: Values) -> tuple[str, ...]:
    return tuple(dict.fromkeys([*aliases, *own.get("aliases", ())]))


def _faults_of_part(
    part: Mapping[str, Values], called: Mapping[str, Iterable[str]], key: str, kind: str
) -> Iterator[Fault]:
    meanings = {fold(wording): name for name, wordings in called.items() for wording in wordings if fold(wording)}
    for name, own in part.items():
        at = pointer(key, name)
        if name not in called:
            yield Fault(at, f"There is no {kind} {name!r} in this knowledge base.")
            continue
        aliases = list(own.get("aliases", ()))
        if len(aliases) > MOST_ALIASES:
            yield Fault(f"{at}/aliases", f"{name} has {len(aliases)} further wordings; {MOST_ALIASES} are the most.")
        for alias in aliases[:MOST_ALIASES]:
            if problem := _fault_of_alias(alias, name, meanings):
                yield Fault(f"{at}/aliases", problem)
            else:
                meanings[fold(alias)] = name


def _fault_of_alias(alias: str, name: str, meanings: Mapping[str, str]) -> str:
    """Return the fault of one alias, or an empty string if it is valid."""
    shown = repr(alias[:40])
    if not fold(alias) or not storable(alias):
        return f"{shown} has no letters or digits, so that no question can say it."
    if len(alias) > LONGEST_ALIAS:
        return f"{shown}… has {len(alias)} characters; {LONGEST_ALIAS} are the most."
    owner = meanings.get(fold(alias))
    if owner == name:
        return f"{shown} is a wording of {name} already."
    return f"{shown} means {owner} already; a word has to mean one thing." if owner is not None else ""
