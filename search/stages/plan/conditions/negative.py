"""Relations whose own wording denies (*is contraindicated in*, *must not be used in*), and who says their denial.

A question that denies with a word of its own, `drugs not safe in pregnancy`, means such a relation itself, and not
that it is missing. Only where the question also says the relation's denial are there two denials: `drugs not
contraindicated in pregnancy`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache

from search.language.languages import language
from search.language.question import AnalysedQuestion
from search.language.tokens import Phrases, phrases, tokens
from search.language.words import FUNCTION_WORDS, stem, stems
from search.stages.plan.knowledge import Knowledge
from search.stages.plan.knowledge.shape import Metapath
from search.stages.plan.knowledge.wording import identifier_words


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
