"""What a thing lacks, and what is said of the thing itself behind it: `papers without an abstract by Ada Holm`."""

from __future__ import annotations

from dataclasses import replace

from search.domain.graph import DIRECTIONS
from search.interfaces import NodeStore
from search.language.cues import Turning
from search.language.question import AnalysedQuestion
from search.language.words import FUNCTION_WORDS, stem
from search.stages.plan.knowledge import Knowledge
from search.stages.plan.measures import field_stems


def ended_lacks(question: AnalysedQuestion, knowledge: Knowledge, nodes: NodeStore) -> AnalysedQuestion:
    """Return the question with scopes of *without* and *not about* that end before a name that belongs to the answer.

    A preposition stands before that name.

    A field has nothing of its own (`an abstract by X`), and what is lacked is not joined with X where no relation
    leads from its type to X's (`without any disease from the Lipids community`).
    """
    turnings = tuple(
        replace(one, scope=(one.scope[0], end)) if (end := _end(question, knowledge, nodes, one)) else one
        for one in question.cues.turnings
    )
    if turnings == tuple(question.cues.turnings):
        return question
    return replace(question, cues=replace(question.cues, turnings=turnings))


def _end(question: AnalysedQuestion, knowledge: Knowledge, nodes: NodeStore, turning: Turning) -> int | None:
    """Return where a scope ends before the preposition of a name that what is lacked has nothing to do with."""
    names = question.names_in(turning.scope)
    if not names or turning.kind == "except":
        return None
    mention = min((question.names[at].mention for at in names), key=lambda one: one.start)
    before = [word for word in question.said if turning.scope[0] <= word.start < mention.start]
    lacked = [word for word in before if word.content]
    if not lacked or before[-1].content or before[-1].text not in FUNCTION_WORDS:
        return None
    said = [word.text for word in lacked]
    if turning.kind == "not":
        # *Not about robots in X*: what a text is not about has nothing to do with where it is.
        return lacked[-1].start + len(lacked[-1].text) if set(lacked) <= set(question.topics) else None
    if _is_field(knowledge, said) or _is_apart(knowledge, said, {int(code) for code in nodes.types(mention.keys)}):
        return lacked[-1].start + len(lacked[-1].text)
    return None


def _is_field(knowledge: Knowledge, said: list[str]) -> bool:
    """Whether all words together name a field and none of them a relation or type."""
    if any(knowledge.lexicon.says(word) for word in said):
        return False
    lacked = {stem(word) for word in said}
    return any(lacked <= field_stems(one) for kind in knowledge.schema.node_types for one in kind.fields)


def _is_apart(knowledge: Knowledge, said: list[str], named: set[int]) -> bool:
    """Whether words say types, and no relation joins any of them with one of some types."""
    lacked = knowledge.lexicon.names_types(said).nonzero()[0].tolist()
    return bool(lacked) and not any(
        named & knowledge.shape.far_ends(code, relation, way)
        for code in lacked
        for relation in range(len(knowledge.schema.relations))
        for way in DIRECTIONS
    )
