"""The field that a question asks for instead of the things themselves: `how heavy is X`, `the price of X`."""

from __future__ import annotations

from collections.abc import Iterator

from search.language.question import AnalysedQuestion
from search.language.words import stem
from search.stages.plan.conditions.condition import Condition, Core
from search.stages.plan.conditions.fields import FieldMeanings, naming
from search.stages.plan.conditions.having import participles
from search.stages.plan.knowledge import Knowledge
from search.stages.plan.measures import field_stems

_NAMED = 0.9
"""Fit of a field that a word of the question names."""
_LEAST = 0.5


def asks_for_field(question: AnalysedQuestion, knowledge: Knowledge) -> bool:
    """Whether a question may ask for a field: it has words of asking for one, or a word that names one."""
    asked = question.asks_for_field
    if asked is None:
        return False
    kinds = knowledge.schema.node_types
    own = knowledge.kept(asks_for_field, lambda: frozenset().union(*(field_stems(f) for t in kinds for f in t.fields)))
    return bool(asked.spans) or any(word.content and stem(word.text) in own for word in question.said)


def shows_of(core: Core, fields: FieldMeanings) -> Iterator[list[Condition]]:
    """Yield the field of the answers that the question asks for, if it asks for one."""
    if core.candidate.branches and (found := shown(core, fields)):
        yield found[:1]


def shown(core: Core, fields: FieldMeanings) -> list[Condition]:
    """Return the fields of the answer type that a question may ask for, best first."""
    question = core.question
    asked = question.asks_for_field
    if asked is None:
        return []
    found = []
    if asked.scale or asked.unit:
        said = [word.text for word in question.without(core.candidate.mentions).content]
        for one, fit in fields.fits(core.kind, [*said, *asked.scale], asked.unit, keywords=True):
            spans = (*asked.spans, *naming(core, one))
            found.append(Condition(asked.spans[0], fit, spans=spans, show=one.name))
    else:
        lexicon = core.knowledge.lexicon
        had = {start for start, _ in participles(core)}
        for one in core.kind.fields:
            named = [
                word
                for word in question.without(core.candidate.mentions).content
                if stem(word.text) in field_stems(one) and word.start not in had
            ]
            places = [(word.start, word.start + len(word.text)) for word in named]
            stems = {stem(word.text) for word in named}
            # Words of the schema name a field only as a whole, or beside one that is none: *class of drug*.
            whole = len(stems) > 1 and stems == field_stems(one)
            if one.kind != "text" and (whole or any(not lexicon.says(word.text) for word in named)):
                fit = _NAMED * len(stems) / len(field_stems(one))
                found.append(Condition(places[0], fit, spans=(*asked.spans, *places), show=one.name))
    return sorted((one for one in found if one.score >= _LEAST), key=lambda one: -one.score)
