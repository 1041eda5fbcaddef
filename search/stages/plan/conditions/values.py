"""What values of fields in a question select: nodes with the value, or, behind a turning word, all others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from search.domain.graph import ANY
from search.domain.plan import Filter, Hop
from search.domain.plan.parts import DENIED
from search.interfaces import ValueMention
from search.language.question import joined
from search.stages.plan.conditions.condition import Condition, Core, best
from search.stages.plan.conditions.negative import denied_by, says_denial
from search.stages.plan.conditions.paths import path_fit
from search.stages.plan.knowledge.shape import Metapath, SchemaStep
from search.stages.plan.scoring.align import elements
from search.stages.plan.write import TARGET

_INSIDE = 0.7
"""Factor of a value of a node inside the plan, not of the answer."""
_BESIDE = 0.6
"""Factor of a value of a node beside the answer, over a relation that the words fit."""
_SAID = 0.5
"""Least fit of such a relation."""
_SURELY = 0.95
_NAMES = 0.8
"""Affinity from which a stretch names a relation or a type."""
_UNNAMED_NUMBER = 0.5
"""Factor of a number that does not stand beside the name of its field."""


def values_of(core: Core) -> Iterator[list[Condition]]:
    """Yield the meanings of each stretch that is a value of a field of the plan's nodes, longest first.

    A field of the answer that holds one value has none of two: a list of them means any (*mature or emerging tools*);
    else the second one means nothing.
    """
    question = core.question
    used = [question.names[at].mention for at in core.candidate.mentions]
    taken: list[tuple[int, int]] = [(one.start, one.end) for one in used]
    found: list[list[Condition]] = []
    for span in sorted({(one.start, one.end) for one in question.values}, key=lambda span: span[0] - span[1]):
        if any(start < span[1] and span[0] < end for start, end in taken):
            continue
        meanings = [
            meaning for one in question.values if (one.start, one.end) == span for meaning in _meanings(core, one)
        ]
        other = next((at for at, said in enumerate(found) for one in meanings if _same_field(core, said[0], one)), None)
        if other is not None:
            if any_of := _any_of(core, found[other][0], meanings):
                taken.append(span)
                found[other] = [any_of]
        elif meanings:
            taken.append(span)
            found.append(sorted(meanings, key=lambda one: -one.score))
    yield from found


def _same_field(core: Core, one: Condition, other: Condition) -> bool:
    """Whether two conditions select values of one field of the answer, of which every node has one at most."""
    single = {field.name for field in core.kind.fields if not field.many}
    pair = [filters[0] if len(filters := condition.filters) == 1 else None for condition in (one, other)]
    return all(f is not None and f.var == TARGET and f.op in ("=", "in") and f.field in single for f in pair) and (
        len({f.field for f in pair if f is not None}) == 1
    )


def _any_of(core: Core, one: Condition, others: Sequence[Condition]) -> Condition | None:
    """Return the condition that a field has one of the values that stand in a list; None if they stand in none."""
    for other in others:
        first, last = sorted((one.spans[0], other.spans[0]))
        if _same_field(core, one, other) and joined(core.question.text[first[1] : last[0]]):
            values = [
                value
                for condition in (one, other)
                for own in [condition.filters[0].value]
                for value in (own if isinstance(own, list | tuple) else [own])
            ]
            condition = replace(one.filters[0], op="in", value=list(dict.fromkeys(values)))
            return replace(one, filters=(condition,), spans=(*one.spans, *other.spans))
    return None


def says_value(core: Core, one: ValueMention) -> bool:
    """Whether a stretch says the value, and does not name a relation or another type than the answers'."""
    if one.named or one.node_type != core.kind.name:
        return True
    lexicon = core.knowledge.lexicon
    row = lexicon.of([one.text.casefold()])[0].copy()
    row[lexicon.relations + core.type_code] = 0.0
    return bool(row.max(initial=0.0) < _NAMES)


def _meanings(core: Core, one: ValueMention) -> Iterator[Condition]:
    if not says_value(core, one):
        return
    span = (one.start, one.end)
    turned = next(
        (cue for cue in core.question.turnings if cue.scope[0] <= one.start and one.end <= cue.scope[1]), None
    )
    fit = one.similarity * (_UNNAMED_NUMBER if not isinstance(one.value, str) and not one.named else 1.0)
    places = [(TARGET, 1.0)] if one.node_type == core.kind.name else []
    schema = core.knowledge.schema
    places += [(var, _INSIDE) for var, code in core.variables if schema.node_types[code].name == one.node_type]
    if not places and turned is None and fit >= _SURELY:
        yield from best(list(_beside(core, one, fit)), 1)
    for var, factor in places[:1]:
        spans = (span, (turned.start, turned.end)) if turned else (span,)
        condition = Filter(var, one.field, DENIED[one.op] if turned else one.op, one.value)
        yield Condition(span, fit * factor, filters=(condition,), spans=spans, turning=turned is not None)


def _beside(core: Core, one: ValueMention, fit: float) -> Iterator[Condition]:
    """Yield that a node has the value to which an answer leads over a relation that the question says.

    *Who wrote about dengue* asks for authors of papers with that keyword. Where a word says what has the value, as in
    *proceedings of events held in Umeå*, that is rather what is asked for.
    """
    known, span = core.knowledge, (one.start, one.end)
    code = known.schema.type_codes[one.node_type]
    said = [word.text for word in core.question.without(core.candidate.mentions).content
            if not span[0] <= word.start < span[1]]  # fmt: skip
    kind = (known.lexicon.relations + code,)
    if any(known.lexicon.explains(kind, word) for word in said):
        return
    # A value that names its type as well (*papers at a workshop*) says over which relation it stands.
    typed = known.lexicon.explains(kind, one.text.casefold())
    for relation, own in enumerate(known.schema.relations):
        for way in core.ways(relation):
            ends = known.shape.far_ends(core.type_code, relation, way)
            path = Metapath(core.type_code, (SchemaStep(relation, way, code),))
            spoken = any(known.lexicon.explains((relation,), word) for word in said)
            if code not in ends or not (spoken or typed):
                continue
            denied = denied_by(known, path)
            share = path_fit(known, path, said, implied=False) if spoken else 1.0
            if share < _SAID or (denied and not says_denial(core.question, known, denied)):
                continue
            var = f"v{one.start}"
            hop = Hop(TARGET, own.name, var, one.node_type if len(ends) > 1 else ANY, None if own.mutual else way)
            yield Condition(
                span, _BESIDE * share * fit, filters=(Filter(var, one.field, one.op, one.value),), spans=(span,),
                columns=elements((path,), known.lexicon.relations), hops=(hop,),
            )  # fmt: skip
