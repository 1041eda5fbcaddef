"""The fields and relations that quantities, superlatives and orders of a follow-up mean on a node type."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from search.domain.graph import Field, NodeType
from search.domain.plan import Count, Filter
from search.language.cues import Superlative
from search.language.quantities import Quantity
from search.language.question import AnalysedQuestion
from search.language.words import stem, stems
from search.stages.plan.enumeration.enumerate import PlanCandidate
from search.stages.plan.follow_up.ground import Ground
from search.stages.plan.limits import Limiter, YearFields
from search.text import words

_SURE = 0.5
"""Least affinity of a word to a relation or type from which the word names it."""
_BETTER_HIGH = stems("rating score stars")
"""Stems of fields of which people want to see the largest value first."""


def filters_of(ground: Ground, text: str, quantity: Quantity, var: str, label: str) -> tuple[Filter, ...]:
    """Return a quantity as filters on a variable of a node type; empty if it limits no field of the type."""
    limiter = Limiter(ground.schema, ground.knowledge.kept(YearFields, lambda: YearFields(ground.nodes)))
    candidate = PlanCandidate((), (), (), (ground.schema.type_codes[label],), 0)
    read = AnalysedQuestion(text, (), ground.knowledge.spoken)
    limits = limiter.of(read, [quantity], candidate, lambda _: "some")
    return tuple(replace(condition, var=var) for condition in limits.filters)


def orders_of(ground: Ground, cue: Superlative, text: str, label: str) -> Iterator[str | Count]:
    """Yield what a superlative may compare on a node type, the likeliest first: a field, or a number of neighbours."""
    kind = ground.schema.node_type(label)
    measured = _measured(kind)
    for said in [cue.word, *cue.scale]:
        yield from (one.name for one in measured if stem(said) in _stems(one))
    if cue.counted is not None or not cue.scale:
        counted = text[slice(*cue.counted)] if cue.counted else cue.word
        yield from counts_of(ground, counted, label)


def counts_of(ground: Ground, said: str, label: str) -> Iterator[Count]:
    """Yield the numbers of neighbours that words may mean: *most cited*, *most papers*."""
    lexicon, schema = ground.knowledge.lexicon, ground.schema
    content = [word for word in said.lower().split() if word.isalpha()]
    if not content:
        return
    rows = lexicon.of(content).max(axis=0)
    passive = said.lower().split()[-1].endswith("ed")
    found: list[tuple[float, Count]] = []
    for kind in schema.relation_types:
        for near, far, direction in ((kind.source, kind.target, "out"), (kind.target, kind.source, "in")):
            if near != label:
                continue
            told = float(rows[schema.relation_codes[kind.relation]])
            meant = float(rows[lexicon.relations + schema.type_codes[far]])
            turned = kind.source == kind.target and (direction == "in") != passive
            fit = max(told, meant) - (0.25 if turned else 0.0)
            if fit >= _SURE:
                found.append((fit, Count(kind.relation, direction, far)))  # type: ignore[arg-type]
    yield from (count for _, count in sorted(found, key=lambda pair: -pair[0]))


def sorted_by(ground: Ground, said: str, label: str) -> Iterator[tuple[str | Count, str]]:
    """Yield what *sorted by …* may mean on a node type, with the usual direction: a field named so, or a number."""
    named = stems(said)
    for one in _measured(ground.schema.node_type(label)):
        if named & _stems(one):
            yield one.name, "desc" if _stems(one) & _BETTER_HIGH else "asc"
    for one in _measured(ground.schema.node_type(label)):
        if one.kind == "date" and named & stems("date year time age"):
            yield one.name, "asc"
    for count in counts_of(ground, said, label):
        yield count, "desc"


def field_words(kind: NodeType) -> dict[str, frozenset[str]]:
    """Return the stems of the words of each field of a node type."""
    return {one.name: _stems(one) for one in kind.fields}


def _measured(kind: NodeType) -> Sequence[Field]:
    return [one for one in kind.fields if one.kind in ("number", "date")]


def _stems(one: Field) -> frozenset[str]:
    return frozenset(stem(word) for word in words(one.name).lower().split())
