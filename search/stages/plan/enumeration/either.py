"""Names joined by *or* are one name that means any of their nodes: *things in red or navy*, *drugs for asthma or COPD*.

A plan from each of them, joined at the answer, would ask for what belongs to both.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache

from search.interfaces import Mention, NodeStore
from search.language.languages import known_languages, language
from search.language.names import Named
from search.language.question import AnalysedQuestion
from search.language.words import FUNCTION_WORDS, words

_MARKS = ",;/、，"
_LONGEST = 4
"""Most words between two names of such a list: *made of cork or of the oak*."""


def either(question: AnalysedQuestion, nodes: NodeStore) -> list[Named]:
    """Return the names of a question, with one name for those that *or* joins and that have types in common.

    Names with another role than to start a plan stay as they are, and names of which no type is common to all.
    """
    starts = [one for one, role in zip(question.names, question.roles, strict=True) if role == "start"]
    lists = _lists(question.text, starts)
    joined = [one for several in lists if (one := _any_of(question.text, several, nodes)) is not None]
    kept = [one for one in question.names if not any(other.overlaps(one) for other in joined)]
    return sorted([*kept, *joined], key=lambda one: (one.mention.start, -one.mention.end))


def _lists(text: str, starts: Sequence[Named]) -> Iterator[list[Named]]:
    """Yield the lists of at least two names that marks and *or* join, the last two by *or*."""
    held: list[Named] = []
    listed = 0  # Names up to the last *or*.
    for name in starts:
        link = _link(text, held[-1], name) if held else ""
        if not link:
            if listed:
                yield held[:listed]
            held, listed = [], 0
        held.append(name)
        if link == "or":
            listed = len(held)
    if listed:
        yield held[:listed]


def _link(text: str, last: Named, name: Named) -> str:
    """Return how a name is joined to the one before it: `or`, `mark` for a comma, empty if it is not."""
    if last.overlaps(name):
        return ""
    between = text[last.mention.end : name.mention.start]
    said = words(between)
    if not said:
        return "mark" if between.strip() in _MARKS and between.strip() else ""
    ors = _ors()
    listed = said[0] in ors and len(said) <= _LONGEST and all(one in ors or one in FUNCTION_WORDS for one in said)
    return "or" if listed else ""


@lru_cache(maxsize=1)
def _ors() -> frozenset[str]:
    """Return the words for *or* in every language that is read whole."""
    return frozenset().union(*(language(code).set("words", "either") for code in known_languages()))


def _any_of(text: str, several: Sequence[Named], nodes: NodeStore) -> Named | None:
    """Return the name that means any of the nodes of several names; None if they have no type in common."""
    kinds = [frozenset(nodes.types(one.mention.keys).tolist()) for one in several]
    shared = frozenset.intersection(*kinds)
    if not shared:
        return None
    keys: dict[int, bool] = {}
    for one in several:
        exact = one.mention.exact or (True,) * len(one.mention.keys)
        types = nodes.types(one.mention.keys).tolist()
        for key, own, code in zip(one.mention.keys, exact, types, strict=True):
            if code in shared:
                keys.setdefault(key, own)
    least = min(several, key=lambda one: one.mention.similarity).mention
    start, end = several[0].mention.start, several[-1].mention.end
    meant = text[start:end] if any(one.mention.meant for one in several) else ""
    mention = Mention(
        start, end, text[start:end], tuple(keys), tuple(keys.values()), least.similarity, least.how, meant
    )  # fmt: skip
    return replace(
        several[0],
        mention=mention,
        words=sum(one.words for one in several),
        quoted=any(one.quoted for one in several),
        capitalised=all(one.capitalised for one in several),
        exact=all(one.exact for one in several),
        ordinary=False,
        any_of=True,
    )
