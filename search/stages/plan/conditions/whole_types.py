"""Candidate plans without a name: all nodes of a type, for conditions to select from (`brands founded before 1930`)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from search.domain.graph import DIRECTIONS
from search.interfaces import NodeStore
from search.language.question import AnalysedQuestion
from search.language.words import stems
from search.stages.plan.conditions.fields import FieldMeanings
from search.stages.plan.conditions.negative import denying_relations, forbids
from search.stages.plan.conditions.orders import counted_words
from search.stages.plan.enumeration.enumerate import PlanCandidate
from search.stages.plan.knowledge import Knowledge
from search.stages.plan.knowledge.target import agents, answer_types, heads, kinds_before
from search.stages.plan.limits import meant_of
from search.stages.plan.measures import is_generic, is_price
from search.stages.plan.scoring.features import only_speaks
from search.stages.plan.scoring.score import Weights
from search.stages.plan.years import YearFields

MOST = 3
_FITS = 0.5
"""Least fit of an answer type that the question says."""
_SURELY = 0.8
"""Least fit of the field of a superlative that says what type is asked for."""
_SAID = 0.8
"""Least similarity of a value that says what type is asked for, where no type that a word says has values."""
_SMOOTH = 0.5


def whole_types(
    question: AnalysedQuestion, knowledge: Knowledge, nodes: NodeStore, years: YearFields
) -> list[tuple[PlanCandidate, float]]:
    """Return the types that the question may ask for, as candidates without branches, each with its fit in [0, 1].

    Where no word says a type, it is the type of the node that answers are compared with, of the values that are said,
    or of the field that a number or a superlative means: only one type has a price.
    """
    reading, lexicon = question.without(()), knowledge.lexicon
    beside = kinds_before(question, lexicon)
    fit = answer_types(reading, lexicon, beside)
    # A word that is merely like a type says no type.
    named = lexicon.says_types([word.text for word in reading.content if word.start not in beside])
    asked = bool({"who", "where", "when", "whom"} & {word.text for word in reading.words}) or any(
        agents(texts, lexicon.of(texts)[:, : lexicon.relations]) for texts, _ in heads(reading, lexicon)[:1]
    )
    spoken = {
        code: float(fit[code])
        for code in np.argsort(-fit, kind="stable").tolist()
        if fit[code] >= _FITS and (named[code] or asked)
    }
    found = spoken or dict.fromkeys(_types_of_cues(question, knowledge, nodes, years), _FITS)
    # *Events in Norway*, where only volumes have places: what is like a type is asked for less surely than what fits.
    said = [one for one in question.values if one.similarity >= _SAID and one.start not in beside]
    having = {knowledge.schema.type_codes[one.node_type] for one in said}
    if having and having.isdisjoint(found):
        found = {**dict.fromkeys(sorted(having), _FITS), **found}
    kinds = knowledge.schema.node_types
    return [
        (PlanCandidate((), (), (), (code,), kinds[code].count), share)
        for code, share in list(found.items())[:MOST]
        if code in knowledge.answerable
    ]


def _types_of_cues(question: AnalysedQuestion, knowledge: Knowledge, nodes: NodeStore, years: YearFields) -> list[int]:
    held = [at for cue in question.comparisons for at in question.names_in(cue.reference)]
    codes = [int(code) for at in held for code in nodes.types(question.names[at].mention.keys)]
    codes += [knowledge.schema.type_codes[one.node_type] for one in question.values]
    codes += _forbidden_types(question, knowledge, nodes)
    codes += [code for code in knowledge.answerable if _has_field(question, knowledge, years, code)]
    return list(dict.fromkeys(codes))


def _forbidden_types(question: AnalysedQuestion, knowledge: Knowledge, nodes: NodeStore) -> list[int]:
    """Return the types that a relation which denies joins with a name, where a permission is denied."""
    turned = [one for one in question.turnings if forbids(question, knowledge, one)]
    held = {int(code) for one in turned for at in question.names_in(one.scope)
            for code in nodes.types(question.names[at].mention.keys)}  # fmt: skip
    return [
        far
        for relation in sorted(denying_relations(knowledge))
        for code in sorted(held)
        for way in DIRECTIONS
        for far in sorted(knowledge.shape.far_ends(code, relation, way))
    ]


def _has_field(question: AnalysedQuestion, knowledge: Knowledge, years: YearFields, code: int) -> bool:
    """Whether a type has a field that a number, or a superlative of the question surely means."""
    kind, fields = knowledge.schema.node_types[code], FieldMeanings(knowledge, years)
    numbers = [cue for cue in question.cues.quantities if cue.dimension or (cue.scale and not is_generic(cue))]
    # Of what has a price, people say a number alone.
    priced = any(is_price(one) for one in kind.fields if one.kind == "number")
    numbers += [cue for cue in question.cues.quantities if priced and is_generic(cue)]
    ordered = [
        fit
        for cue in question.superlatives
        for found in (
            fields.fits(kind, [cue.word, *cue.scale], cue.unit)
            if cue.word
            else fields.counted(kind, counted_words(question, cue)),
            fields.against(kind, cue.scale, cue.against),
        )
        for _, fit in found[:1]
    ]
    return max(ordered, default=0.0) >= _SURELY or any(
        meant_of(question.text, cue, kind, knowledge.schema, years) for cue in numbers
    )


def whole_type_sum(
    question: AnalysedQuestion,
    knowledge: Knowledge,
    candidate: PlanCandidate,
    fit: float,
    told: Sequence[tuple[int, int]],
    columns: Sequence[int],
    weights: Weights,
) -> float:
    """Return the sum of a candidate without branches, comparable with those of `Scorer`.

    Without hops there is no hop without a word; `told` are the spans of the question that the conditions express,
    `columns` the columns of the lexicon for what they join with.
    """
    content = [w for w in question.without(()).content if not any(first <= w.start < last for first, last in told)]
    rows = knowledge.lexicon.of([word.text for word in content])
    own_columns = [knowledge.lexicon.relations + candidate.types[0], *columns]
    own = float(rows[:, own_columns].max(axis=1).sum()) if len(rows) else 0.0
    whole = float(rows.max(axis=1).sum()) if len(rows) else 0.0
    words = (own + _SMOOTH) / (whole + _SMOOTH)
    return (
        weights.hops
        + weights.words * words
        + weights.order * words
        + weights.target * fit
        + weights.missed * unused_share(question, knowledge)
        + weights.size * float(np.log10(1 + candidate.size))
    )


def unused_share(question: AnalysedQuestion, knowledge: Knowledge) -> float:
    """Return the weight of the surest name to start from, which a plan without names leaves out, in [0, 1].

    Unlike in plans with names, the case of the name does not count: any name is a reason to start from it, unless it
    consists of words of the schema, or is a value as surely as it is a name, or stands in a longer one (*eye drops*). A
    single word weighs less the more surely it is only a word for the schema: *films* where the type is called movie.
    """
    held = {(one.start, one.end) for one in question.values}
    longer = [(one.start, one.end) for one in question.values if one.similarity == 1]
    starts = [
        name
        for name, role in zip(question.names, question.roles, strict=True)
        if role == "start"
        and (name.mention.similarity == 1 or (name.mention.start, name.mention.end) not in held)
        and not any(
            start <= name.mention.start
            and name.mention.end <= end
            and end - start > name.mention.end - name.mention.start
            for start, end in longer
        )
    ]
    return max(
        (
            name.mention.similarity * (1 - only_speaks(name, knowledge.lexicon))
            for name in starts
            if not stems(name.mention.text) <= knowledge.spoken
        ),
        default=0.0,
    )
