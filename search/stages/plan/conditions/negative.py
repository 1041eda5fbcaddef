"""Relations whose own wording denies (*is contraindicated in*, *must not be used in*), and who says their denial.

A question that denies with a word of its own, `drugs not safe in pregnancy`, means such a relation itself, and not
that it is missing. Only where the question also says the relation's denial are there two denials: `drugs not
contraindicated in pregnancy`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache

from search.language.cues import Span, Turning
from search.language.languages import language
from search.language.question import AnalysedQuestion
from search.language.tokens import Phrases, phrases, tokens
from search.language.words import FUNCTION_WORDS, stem, stems
from search.stages.plan.knowledge import Knowledge
from search.stages.plan.knowledge.shape import Metapath
from search.stages.plan.knowledge.wording import identifier_words

_BEFORE, _BEHIND = 60, 12
"""Number of characters before a turning word, and behind it, in which a word of permission belongs to it."""
_ACT = 2
"""Most words that say what is not permitted."""


def denying_relations(knowledge: Knowledge) -> frozenset[int]:
    """Return the codes of the relations whose name or description denies, in the knowledge base's language."""
    return knowledge.kept("denying", lambda: frozenset(_denying(knowledge)))


def denied_by(knowledge: Knowledge, path: Metapath) -> frozenset[int]:
    """Return the relations of a walk that deny."""
    return denying_relations(knowledge) & {step.relation for step in path.steps}


def says_denial(question: AnalysedQuestion, knowledge: Knowledge, relations: Iterable[int]) -> bool:
    """Whether a question says the denial of such relations beside its turning words.

    It says a word that denies (*banned*, *off limits*), or one that belongs to these relations alone.
    """
    turned = [(one.start, one.end) for one in question.turnings]
    own = {word for relation in relations for word in _own(knowledge)[relation]}
    said = tokens(question.text)
    for at, token in enumerate(said):
        if any(start <= token.start < end for start, end in turned) or token.mark:
            continue
        if stem(token.word) in own or _phrases(question.cues.language).length(said, at):
            return True
    return False


def forbids(question: AnalysedQuestion, knowledge: Knowledge, turning: Turning) -> bool:
    """Whether a turning word denies a permission: *must not be given in*, *can't take*, *avoid in*, *not safe with*.

    What is not permitted is what a relation that denies says. A scope that says another relation (*can't cure*) denies
    that one.
    """
    denying = denying_relations(knowledge)
    words = [word.text for word in question.said_in(turning.scope)]
    beside = _beside(knowledge, denying)
    said = [beside & set(knowledge.lexicon.said_relations(word)) for word in words]
    if not denying or any(one and one.isdisjoint(denying) for one in said):
        return False
    own = question.text[turning.start : turning.end].casefold()
    codes = _codes(question, knowledge)
    permitting = [word for code in codes for word in language(code).set("turning", "permitting")]
    if any(own.startswith(word) for word in permitting) or any(_phrases(c).length(tokens(own), 0) for c in codes):
        return True
    near = (
        word.text
        for word in question.said
        if turning.start - _BEFORE <= word.start < turning.start or 0 <= word.start - turning.end < _BEHIND
    )
    return not set(permitting).isdisjoint(near)


def forbids_nameless(question: AnalysedQuestion, knowledge: Knowledge) -> bool:
    """Whether a turning word denies a permission and names nothing: *what should people with asthma not take*."""
    return any(not question.names_in(one.scope) and forbids(question, knowledge, one) for one in question.turnings)


def forbidden_act(question: AnalysedQuestion, knowledge: Knowledge, turning: Turning) -> tuple[Span, ...]:
    """Return the spans of the words between a denied permission and its name: *given*, *taken by patients*.

    They only say what is not permitted, which the relation says.
    """
    words = question.content_in(turning.scope)
    beside = _beside(knowledge, denying_relations(knowledge))
    others = (word for word in words if beside.isdisjoint(knowledge.lexicon.said_relations(word.text)))
    return tuple((word.start, word.start + len(word.text)) for word in others)[:_ACT]


def denial_said(question: AnalysedQuestion, knowledge: Knowledge) -> tuple[Span, ...]:
    """Return the spans of the words outside turning words that deny by themselves: *banned*, *tabu*, *bad for*."""
    said = tokens(question.text)
    turned = [(one.start, one.end) for one in question.turnings]
    found = []
    for at, token in enumerate(said):
        length = 0 if token.mark else max(_phrases(code).length(said, at) for code in _codes(question, knowledge))
        if length and not any(start <= token.start < end for start, end in turned):
            found.append((token.start, said[at + length - 1].end))
    return tuple(found)


def _beside(knowledge: Knowledge, denying: Iterable[int]) -> set[int]:
    """Return the relations that join a type which one of the relations that deny joins: of those an act may speak."""
    schema = knowledge.schema
    ends = [(schema.relation_codes[one.relation], {one.source, one.target}) for one in schema.relation_types]
    types = set().union(*(own for relation, own in ends if relation in denying))
    return {relation for relation, own in ends if not types.isdisjoint(own)}


def _codes(question: AnalysedQuestion, knowledge: Knowledge) -> tuple[str, ...]:
    """Return the languages whose words may stand in a question: its own, and that in which it is read."""
    return tuple(dict.fromkeys((question.cues.language, knowledge.schema.language)))


def _own(knowledge: Knowledge) -> dict[int, frozenset[str]]:
    """Return for each relation that denies the stems of its wording that no other element of the schema has."""
    denying = denying_relations(knowledge)  # Before `kept`, which makes one value at a time.
    return knowledge.kept("denial", lambda: dict(_own_stems(knowledge, denying)))


def _own_stems(knowledge: Knowledge, denying: Iterable[int]) -> Iterator[tuple[int, frozenset[str]]]:
    each = [stems(" ".join(several)) for several in knowledge.wording.phrases]
    function = frozenset(stem(word) for word in FUNCTION_WORDS)
    for relation in denying:
        others = (one for at, one in enumerate(each) if at != relation)
        yield relation, each[relation].difference(function, *others)


def _denying(knowledge: Knowledge) -> list[int]:
    turning = phrases(language(knowledge.schema.language).entries("turning", "not"))
    found = []
    for at, one in enumerate(knowledge.schema.relations):
        said = tokens(f"{identifier_words(one.name)} {one.description}".casefold())
        denying = _phrases(knowledge.schema.language)
        if any(denying.length(said, place) or turning.length(said, place) for place in range(len(said))):
            found.append(at)
    return found


@lru_cache(maxsize=32)
def _phrases(code: str) -> Phrases[str]:
    return phrases(language(code).entries("turning", "denying"))
