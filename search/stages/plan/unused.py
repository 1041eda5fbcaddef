"""Condition words of a question (*all*, *only*, *average*, *second*) that no part of a plan uses."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from search.domain.plan import Count
from search.language.cues import ConditionWord, Span
from search.language.question import AnalysedQuestion
from search.language.words import stem, words
from search.stages.plan.knowledge import Knowledge
from search.stages.plan.meaning import Meaning
from search.stages.plan.scoring.align import elements
from search.text import words as as_words


def unused_conditions(
    question: AnalysedQuestion, knowledge: Knowledge, meaning: Meaning, more: Iterable[Span] = ()
) -> list[ConditionWord]:
    """Return the condition words that a reading does not use; none of the reading as text, which keeps every word.

    A word is used by the condition, number or name that it stands in, and by an element of the plan that is named by
    it (`total_revenue`). `more` are further spans that the reading expresses. See `ConditionWord` for the others.
    """
    candidate, conditions = meaning.candidate, meaning.bound.conditions
    if candidate is None:
        return []
    ordered = {(one.start, one.end) for one in question.superlatives}
    told = [*meaning.bound.spans, *meaning.limits.spans, *more]
    # Between the comparing word and what is compared with stands what is compared: *a longer half-life than X*.
    told += [(one.start, one.reference[0]) for one in question.comparisons if (one.start, one.end) in told]
    asking = question.cues.asking
    if asking is not None and (asking.ask == "how many" or meaning.is_whether):
        told.append((asking.start, asking.end))
    used = [question.names[at] for at in {*candidate.mentions, *(at for one in conditions for at in one.names)}]
    mentions = [(one.mention.start, one.mention.end) for one in used]
    any_of = [one.mention.end for one in used if one.any_of]
    named = _wording(knowledge, meaning)

    def is_used(cue: ConditionWord) -> bool:
        expressed = [span for span in told if cue.kind != "place" or span not in ordered]
        if _within(cue, [*expressed, *mentions]) or named.issuperset(_stems(question, cue)):
            return True
        if cue.kind == "every":
            return not any(word.content and word.start < cue.start for word in question.said)
        if cue.kind == "both":
            return sum(start > cue.start for start, _ in mentions) > 1
        return cue.kind == "either" and any(end > cue.start for end in any_of)

    return [cue for cue in question.conditions if not is_used(cue)]


def _within(cue: ConditionWord, spans: Sequence[Span]) -> bool:
    return cue.start < cue.end and any(start <= cue.start and cue.end <= end for start, end in spans)


def _stems(question: AnalysedQuestion, cue: ConditionWord) -> list[str]:
    # A word that the base's language does not say has an empty stretch, and nothing names it.
    return [stem(word) for word in words(question.text[cue.start : cue.end])] or [""]


def _wording(knowledge: Knowledge, meaning: Meaning) -> frozenset[str]:
    """Return the stems of the words that name the relations, types and fields of a reading."""
    assert meaning.candidate is not None
    relations, schema = knowledge.lexicon.relations, knowledge.schema
    columns = elements(meaning.candidate.paths, relations, meaning.candidate.types[:1])
    said: list[str] = []
    for at in {*columns, *meaning.bound.columns}:
        if at < relations:
            one = schema.relations[at]
            said += [as_words(one.name), one.description, one.inverse, *one.aliases]
        else:
            kind = schema.node_types[at - relations]
            said += [as_words(kind.name), *kind.aliases]
    orders = [one.order.by for one in meaning.bound.conditions if one.order is not None]
    fields = [one.show for one in meaning.bound.conditions] + [one.field for one in meaning.filters]
    fields += [by for by in orders if not isinstance(by, Count)]
    said += [as_words(field) for field in fields if field]
    return frozenset(stem(word) for phrase in said for word in words(phrase))
