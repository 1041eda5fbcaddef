"""What words mean in a knowledge base: its types, relations and fields by their names, aliases and wordings.

The index is computed once for a schema. It maps phrases of stems to what they say; `annotate` looks the words of a
question up in it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple

from search.domain.graph import DIRECTIONS, OPPOSITE, Direction, Relation, Schema
from search.language.languages import Language, language
from search.language.reading.scales import WordScale
from search.language.tokens import phrases, tokens
from search.language.units import UNITS
from search.language.words import function_words, language_code, stem_in, words
from search.stages.plan.derivation import FieldNamed, Relating
from search.stages.plan.edge_fields import EdgeFields
from search.stages.plan.knowledge.lexicon import identifier_words
from search.stages.plan.knowledge.shape import GraphShape
from search.stages.plan.measures import measured_by, unit_in
from search.stages.plan.sets import Kind
from search.text import words as split_identifier

Stems = tuple[str, ...]
Voice = Literal["active", "passive", ""]


class SchemaEntry(NamedTuple):
    """What a phrase says: the category and meaning of an annotation, and how well the phrase says it, in [0, 1].

    `voice` is that of a relation's verb, where its wording shows it.
    """

    category: str
    meaning: Kind | Relating | FieldNamed
    fit: float
    rule: str
    voice: Voice = ""


@dataclass(frozen=True, eq=False)
class SchemaIndex:
    """The words of a schema."""

    schema: Schema
    shape: GraphShape

    @cached_property
    def longest(self) -> int:
        """Number of words of the longest phrase."""
        return max((len(phrase) for phrase in self.entries), default=0)

    @cached_property
    def entries(self) -> dict[Stems, list[SchemaEntry]]:
        """Phrase as stems → what it says, each meaning once with its best fit."""
        found: dict[Stems, dict[tuple[str, object], SchemaEntry]] = defaultdict(dict)
        for phrase, entry in self._listed():
            key = entry.category, entry.meaning
            for stems in self._stems(phrase):
                if key not in found[stems] or found[stems][key].fit < entry.fit:
                    found[stems][key] = entry
        return {stems: list(by_meaning.values()) for stems, by_meaning in found.items()}

    def _stems(self, phrase: Sequence[str]) -> Iterator[Stems]:
        """Yield a phrase as stems, also with those of its last word in the plural that the stemmer does not undo."""
        if not phrase:
            return
        *first, last = phrase
        before = tuple(map(self.stem, first))
        forms = (last, *(f"{last}{ending}" for ending in self.language.entries("relation_nouns", "plurals")))
        yield from ((*before, one) for one in dict.fromkeys(map(self.stem, forms)))

    @cached_property
    def edges(self) -> EdgeFields:
        """The fields of edges."""
        return EdgeFields(self.schema, self.stem)

    @cached_property
    def all_types(self) -> int:
        """The mask of all types."""
        return (1 << len(self.schema.node_types)) - 1

    @cached_property
    def number_fields(self) -> dict[str, list[tuple[int, str]]]:
        """Kind of field (`number`, `date`) → all fields of that kind as pairs of type code and name."""
        found: dict[str, list[tuple[int, str]]] = defaultdict(list)
        for code, kind in enumerate(self.schema.node_types):
            for one in kind.fields:
                if one.kind in ("number", "date"):
                    found[one.kind].append((code, one.name))
        return found

    @cached_property
    def measured(self) -> frozenset[tuple[int, str]]:
        """All fields of numbers and dates."""
        return frozenset(pair for pairs in self.number_fields.values() for pair in pairs)

    @cached_property
    def units(self) -> dict[tuple[int, str], str | None]:
        """The unit in the name of each field of numbers; None if it has none."""
        return {
            (code, one.name): unit_in(one)
            for code, kind in enumerate(self.schema.node_types)
            for one in kind.fields
            if one.kind == "number"
        }

    def factor(self, code: int, name: str, unit: str) -> float | None:
        """Return by what an amount in a unit is multiplied for a field; None if the field is in no such unit.

        A field without a unit takes amounts as they are said, if it measures what the unit does.
        """
        own = self.units.get((code, name))
        if not unit or (own is None and (code, name) in self.units):
            return 1.0
        if own is None or not UNITS[unit].converts_to(UNITS[own]):
            return None
        return UNITS[unit].factor / UNITS[own].factor

    def measuring(self, unit: str, names: Sequence[str]) -> list[tuple[int, str, int]]:
        """Return the fields that an amount in a unit may limit: type code, field, place of its name among `names`."""
        named = self._of_words(names)
        alike = [
            (code, name, len(names))
            for (code, name), own in self.units.items()
            if own is not None and UNITS[own].dimension == UNITS[unit].dimension
        ]
        several = [*named, *(one for one in alike if one[:2] not in {(code, name) for code, name, _ in named})]
        return [one for one in several if self.factor(one[0], one[1], unit) is not None]

    def far(self, types: int, relation: int, direction: Direction) -> int:
        """Return the mask of the types that a relation leads to from nodes of some types in a direction."""
        far = 0
        for near, other in self._ends[relation, direction]:
            if types >> near & 1:
                far |= 1 << other
        return far

    def near(self, types: int, relation: int, direction: Direction) -> int:
        """Return the mask of the types from which a relation leads to nodes of some types in a direction."""
        near = 0
        for own, other in self._ends[relation, direction]:
            if types >> other & 1:
                near |= 1 << self.shape.role(relation, direction, own)
        return near

    @cached_property
    def steps(self) -> list[tuple[int, Direction]]:
        """Every relation with every direction of walking it; a mutual relation has one."""
        ways: tuple[Direction, Direction] = ("out", "in")
        return [(at, way) for at, one in enumerate(self.schema.relations) for way in (ways[:1] if one.mutual else ways)]

    def scaled(self, scale: WordScale) -> list[tuple[int, str, int]]:
        """Return the number and date fields that a scale is about: type code, field, place of its name in the scale."""
        return self._of_words(scale.names)

    def _of_words(self, names: Sequence[str]) -> list[tuple[int, str, int]]:
        found: list[tuple[int, str, int]] = []
        for place, name in enumerate(names):
            wanted = {self.stem(word) for word in words(name)}
            found += [(code, field, place) for code, field, own, _ in self._measured if wanted <= own]
        # What a field measures by its unit counts less than what it is called.
        for place, name in enumerate(names, len(names)):
            found += [(code, field, place) for code, field, _, measured in self._measured if name in measured]
        first: dict[tuple[int, str], int] = {}
        for code, field, place in found:
            first.setdefault((code, field), place)
        return [(code, field, place) for (code, field), place in first.items()]

    @cached_property
    def _measured(self) -> list[tuple[int, str, frozenset[str], tuple[str, ...]]]:
        return [
            (code, one.name, frozenset(map(self.stem, words(split_identifier(one.name)))), measured_by(one))
            for code, kind in enumerate(self.schema.node_types)
            for one in kind.fields
            if one.kind in ("number", "date")
        ]

    @cached_property
    def _ends(self) -> dict[tuple[int, Direction], list[tuple[int, int]]]:
        """The types at both ends of each relation and direction; at the far end a rare type counts as the main one."""
        found: dict[tuple[int, Direction], list[tuple[int, int]]] = {}
        for at, relation in enumerate(self.schema.relations):
            pairs = list(self.schema.edges_between.get(relation.name, {}))
            forth = [(near, self.shape.role(at, "in", far)) for near, far in pairs]
            back = [(near, self.shape.role(at, "out", far)) for far, near in pairs]
            if relation.mutual:
                forth = back = [*forth, *back]
            found[at, "out"], found[at, "in"] = list(dict.fromkeys(forth)), list(dict.fromkeys(back))
        return found

    def playing(self, types: int, relation: int, direction: Direction) -> int:
        """Return the mask of all types that stand at the far end of a relation in the roles of some types."""
        found = types
        for role_direction in DIRECTIONS if self.schema.relations[relation].mutual else (OPPOSITE[direction],):
            roles = self.shape.roles(relation, role_direction)
            for code, role in enumerate(roles.tolist()):
                found |= 1 << code if types >> role & 1 else 0
        return found

    @cached_property
    def forbidding(self) -> list[int]:
        """The relations whose words deny, as *contraindicated in* and *must not be used in* do."""
        denying = phrases((*self.language.entries("turning", "denying"), *self.language.entries("turning", "not")))
        found = []
        for at, one in enumerate(self.schema.relations):
            said = tokens(f"{identifier_words(one.name)} {one.description}".casefold())
            if any(denying.length(said, place) for place in range(len(said))):
                found.append(at)
        return found

    @cached_property
    def language(self) -> Language:
        """The word lists of the language of the schema."""
        return language(self.code)

    @cached_property
    def code(self) -> str:
        """The code of the language of the schema."""
        return language_code(self.schema.language)

    @cached_property
    def small(self) -> frozenset[str]:
        """The function words of that language."""
        return function_words(self.code)

    def stem(self, word: str) -> str:
        """Return a word of that language without its endings."""
        return stem_in(word, self.code)

    def _listed(self) -> Iterator[tuple[list[str], SchemaEntry]]:
        for code, kind in enumerate(self.schema.node_types):
            for place, phrase in enumerate([split_identifier(kind.name), *kind.aliases]):
                said = words(phrase)
                yield said, SchemaEntry("S", Kind(1 << code), 1.0, "type-name" if not place else "type-alias")
                content = [word for word in said if word not in self.small]
                if len(content) > 1:
                    yield content[-1:], SchemaEntry("S", Kind(1 << code), 0.6, "type-part")
        for at, relation in enumerate(self.schema.relations):
            yield from self._of_relation(at, relation)
        yield from self._of_fields()

    def _of_relation(self, at: int, relation: Relation) -> Iterator[tuple[list[str], SchemaEntry]]:
        nouns = self._nouns(at, relation)
        own = {
            self.stem(word)
            for code in self._types_of(at)
            for word in words(split_identifier(self.schema.node_types[code].name))
        }
        for noun, leads in nouns:
            yield noun, SchemaEntry("R", Relating(at, leads, noun=True), 1.0, "relation-noun")
            if len(noun) > 1:
                yield noun[-1:], SchemaEntry("R", Relating(at, leads, noun=True), 0.4, "relation-part")
        forth: Direction = "out"
        named: list[tuple[str, Direction, str]] = [
            (identifier_words(relation.name), forth, "relation-name"), (relation.description, forth, "relation-name"),
            (relation.inverse, OPPOSITE[forth], "relation-inverse"),
            *((alias, forth, "relation-alias") for alias in relation.aliases),
        ]  # fmt: skip
        known = {tuple(noun) for noun, _ in nouns}
        for phrase, way, rule in named:
            said = words(phrase)
            if not said or tuple(said) in known:
                continue
            voice = self._voice(said)
            passive = said[-1] == "by"
            meaning = Relating(at, None if relation.mutual else way)
            yield said, SchemaEntry("R", meaning, 1.0, rule, voice)
            content = [word for word in said if word not in self.small]
            if content and content != said and not {self.stem(word) for word in content} <= own:
                yield content, SchemaEntry("R", meaning, 0.8, rule, voice)
            if not content:
                yield said[-1:], SchemaEntry("R", meaning, 0.4, "relation-part", voice)
            for word in content:
                if len(content) > 1 and self.stem(word) not in own:
                    yield [word], SchemaEntry("R", meaning, 0.5, "relation-part", voice)
            for agent in self._agents(content):
                leads = way if passive else OPPOSITE[way]
                yield [agent], SchemaEntry("R", Relating(at, leads, noun=True), 0.9, "relation-agent")

    def _voice(self, said: Sequence[str]) -> Voice:
        """Return the voice of a relation's wording: *is cited by* and *directed by* are passive, *cites* is active.

        So is the noun of what one does to the other (*activation*).
        """
        being, doer = self.language.set("relation_nouns", "being"), self.language.set("relation_nouns", "doer")
        if said[-1] in doer:
            return "passive"
        return "" if said[0] in being or said[-1] in self.small else "active"

    def _agents(self, content: Sequence[str]) -> list[str]:
        """Return the nouns for who acts of a phrase's only verb: *directed by* → *director*, *directer*."""
        lang = self.language
        if len(content) != 1 or not content[0].endswith(lang.entries("relation_nouns", "verb_ends")):
            return []
        base = content[0]
        for ending in lang.entries("relation_nouns", "bare"):
            base = base.removesuffix(ending)
        agents = [f"{base}{ending}" for ending in lang.entries("relation_nouns", "agents")] if len(base) > 2 else []
        # A noun with the stem of the verb cannot be told from it: *citer* and *cites*.
        return [agent for agent in agents if self.stem(agent) != self.stem(content[0])]

    def _nouns(self, at: int, relation: Relation) -> list[tuple[list[str], Direction]]:
        """Return the noun phrases of a relation with the direction in which it leads to them.

        *has the capital* and *is the capital of* both say that a capital is what it leads to. An alias is a noun if one
        of these has it.
        """
        having = self.language.set("relation_nouns", "having")
        being = self.language.set("relation_nouns", "being")
        small = self.language.set("relation_nouns", "small")
        found: list[tuple[list[str], Direction]] = []
        ways: tuple[tuple[str, Direction, Direction], ...] = (
            (relation.description, "out", "in"), (relation.inverse, "in", "out"),
        )  # fmt: skip
        for phrase, forth, back in ways:
            said = words(phrase)
            if len(said) > 1 and said[0] in having:
                noun = _trimmed(said[1:], small)
                found.append((noun, forth))
            elif len(said) > 2 and said[0] in being and said[-1] in small and said[1] in small:
                found.append((_trimmed(said[1:-1], small), back))
        for phrase in (identifier_words(relation.name), *relation.aliases):
            said = words(phrase)
            for way in DIRECTIONS if len(said) > 1 else ():
                if said[0] not in having and (self.stem(said[-1]),) in self._stems_of(at, way):
                    found.append((said, way))
        found += [
            (words(alias), forth)
            for alias in relation.aliases
            for noun, forth in list(found)
            if set(words(alias)) <= set(noun) or set(noun) <= set(words(alias))
        ]
        return [one for one in found if one[0] and tuple(map(self.stem, one[0])) not in self._type_stems]

    @cached_property
    def _type_stems(self) -> frozenset[Stems]:
        return frozenset(
            tuple(self.stem(word) for word in words(phrase))
            for kind in self.schema.node_types
            for phrase in (split_identifier(kind.name), *kind.aliases)
        )

    def _stems_of(self, relation: int, way: Direction) -> set[Stems]:
        """Return the names and aliases of the types that a relation leads to, as stems."""
        kinds = [self.schema.node_types[far] for far in {far for _, far in self._ends[relation, way]}]
        return {
            tuple(self.stem(word) for word in words(phrase))
            for kind in kinds
            for phrase in (split_identifier(kind.name), *kind.aliases)
        }

    def _types_of(self, relation: int) -> set[int]:
        return {code for pair in self._ends[relation, "out"] for code in pair}

    def _of_fields(self) -> Iterator[tuple[list[str], SchemaEntry]]:
        by_phrase: dict[Stems, list[tuple[int, str]]] = defaultdict(list)
        parts: dict[Stems, list[tuple[int, str]]] = defaultdict(list)
        for code, kind in enumerate(self.schema.node_types):
            for one in kind.fields:
                said = words(split_identifier(one.name))
                by_phrase[tuple(said)].append((code, one.name))
                if len(said) > 1:
                    for word in said:
                        if word not in self.small:
                            parts[word,].append((code, one.name))
        for phrase, fields in by_phrase.items():
            yield list(phrase), SchemaEntry("F", FieldNamed(tuple(fields)), 1.0, "field-name")
        for phrase, fields in parts.items():
            if phrase not in by_phrase:
                yield list(phrase), SchemaEntry("F", FieldNamed(tuple(fields)), 0.6, "field-part")


def _trimmed(said: list[str], small: frozenset[str]) -> list[str]:
    """Return the words of a phrase without articles before it and prepositions behind it."""
    while said and said[0] in small:
        said = said[1:]
    while said and said[-1] in small:
        said = said[:-1]
    return said
