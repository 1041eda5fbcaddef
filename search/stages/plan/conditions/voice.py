"""Which end of a relation a name is where no word names the relation: subject or object, source or result."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import dropwhile

from search.domain.graph import Direction
from search.language.cues import Turning
from search.language.languages import language
from search.language.question import AnalysedQuestion, Word
from search.language.words import ARTICLES, WHICH, is_participle, words
from search.stages.plan.knowledge import Knowledge

_ENGLISH = language("en")
_ORIGIN, _RESULT = _ENGLISH.set("words", "origin"), _ENGLISH.set("words", "result")
_HELPING, _BEING = _ENGLISH.set("words", "helping"), _ENGLISH.set("words", "being")
_WHAT = frozenset(("what",))
_AND = _ENGLISH.set("turning", "and")
_ASKING = WHICH | frozenset(("who", "that"))
_CLOSE = 3
"""Most words behind a name among which its verb and the preposition at the end stand."""


def led(question: AnalysedQuestion, start: int, end: int) -> Direction | None:
    """Return the direction from a name, at [start, end), that a preposition behind a participle says; None without one.

    What is *made from X* or what *X is turned into* comes out of it, what is *turned into X* leads to it.
    """
    before, behind = _around(question, start, end)
    if len(before) > 1 and is_participle(before[-2].text):
        if before[-1].text in _ORIGIN:
            return "out"
        if before[-1].text in _RESULT:
            return "in"
    near = behind[: _CLOSE + 1]
    at = next((at for at, word in enumerate(near) if word.text in _ORIGIN | _RESULT), None)
    if not at or not is_participle(near[at - 1].text) or (len(behind) > at + 1 and behind[at + 1].text not in WHICH):
        return None
    return "out" if near[at].text in _RESULT else "in"


def acting(question: AnalysedQuestion, knowledge: Knowledge, start: int, end: int) -> Direction | None:
    """Return the direction from a name, at [start, end), that the verb beside it says; None if no verb is seen.

    *Does X activate*, *activated by X*: X acts. *Genes that activate X*: something acts on it.
    """
    before, behind = _around(question, start, end)
    if not before:
        return None
    last = before[-1].text
    if last in _HELPING and behind and behind[-1].content:
        return "out"
    if last == "by" and len(before) > 1 and is_participle(before[-2].text):
        return "out"
    if len(before) < 2 or not before[-1].content or is_participle(last):
        return None
    named = knowledge.lexicon.says_types([last]).any()
    subject = before[-2].text in _ASKING or knowledge.lexicon.names_types([before[-2].text]).any()
    return "in" if subject and not named else None


def did_not(question: AnalysedQuestion, name: int, turning: Turning) -> bool:
    """Whether a turning word says what a name, which acts before it, did not do: *X wrote but didn't direct*.

    The name stands right before a verb, which *but* or *and* joins to the turning word. What *wasn't* done, nobody did.
    """
    if not _BEING.isdisjoint(words(question.text[turning.start : turning.end])):
        return False
    end = question.names[name].mention.end
    said = [word for word in question.said if end <= word.start < turning.start]
    between = list(dropwhile(lambda word: word.text in _HELPING, reversed(said)))
    verbs = between[1:]
    return bool(verbs) and between[0].text in _AND and len(verbs) < _CLOSE and all(word.content for word in verbs)


def done_by(question: AnalysedQuestion, start: int, end: int) -> Word | None:
    """Return the verb of what a name, at [start, end), does: *what does X sell*; None in any other question."""
    before, behind = _around(question, start, end)
    helped = len(before) > 1 and before[-1].text in _HELPING and before[-2].text in _WHAT
    return behind[0] if helped and behind and behind[0].content else None


def _around(question: AnalysedQuestion, start: int, end: int) -> tuple[Sequence[Word], Sequence[Word]]:
    """Return the words before a name, without articles, and those behind it; an expression (*made from*) is several."""
    said = [replace(word, text=part) for word in question.said for part in word.text.split()]
    before = [word for word in said if word.start < start and word.text not in ARTICLES]
    return before, [word for word in said if word.start >= end]
