"""Find the answer type of a question: compare its head with types and their aliases (docs/planning.md, point 2)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from search.language.languages import language
from search.language.question import RemainingWords, Word
from search.language.words import ACTING, ANSWER_OF, ASKED_AS, FUNCTION_WORDS, stem
from search.stages.plan.knowledge.lexicon import Affinities, Lexicon

_WH = frozenset(("what", "which", "who", "whom", "when", "where", "how"))
_THIS = frozenset(("this", "these", "that", "those"))
_RELATIVE = language("en").set("turning", "relative_after")
_HELPERS = frozenset(("do", "does", "did", "can", "could", "has", "have", "had", "will", "would"))
_STANDS_FOR = 4
"""Most words that a question word stands for."""
_HEAD = 3
"""Most content words of a head."""
_AGENT = ("er", "or", "ers", "ors", "ist", "ists", "ian", "ians")
_SURE = 0.5
"""Least affinity from which a type or relation counts as recognised."""


def heads(reading: RemainingWords) -> list[list[str]]:
    """Return the heads that may name the answer type, the likeliest first; each is a list of texts.

    First come the words after a question word (`which films`), then the words after `this` (`X is a film by this
    person`), then the first content words of the question (`papers on parsing`). A question word that itself names an
    answer (`who`) gives the words it stands for. Such words right behind a noun begin a relative clause, in which the
    noun is meant: `authors who work at X`, `journals that print works`; they come last.
    """
    if _asks_for_object(reading):
        return []
    said = reading.words
    asking = [at for at, word in enumerate(said) if word.text in _WH]
    this = [at for at, word in enumerate(said) if word.text in _THIS]
    relative = [at for at in (*asking, *this) if at and said[at - 1].content]
    found = [_head(reading, at) for at in asking if at not in relative]
    found += [_after(said[at + 1 :]) for at in this if at not in relative]
    found.append(_after(said))
    found += [_head(reading, at) if at in asking else _after(said[at + 1 :]) for at in relative]
    return [texts for texts in found if texts]


def head_words(reading: RemainingWords) -> list[str]:
    """Return the words of the question that may name the answer type: behind a question word, and the first ones.

    Words that only stand for a question word (`who`: a person) are not among them.
    """
    if _asks_for_object(reading):
        return []
    asked = [at for at, word in enumerate(reading.words) if word.text in ("which", "what")]
    runs = [*(_after(reading.words[at + 1 :]) for at in asked), _after(reading.words)]
    return [text for run in runs for text in run]


def answer_types(reading: RemainingWords, lexicon: Lexicon) -> Affinities:
    """Return how well each node type fits the head of the question, in [0, 1]; all zero when no head fits."""
    relations = lexicon.relations
    for texts in heads(reading):
        rows = lexicon.of(texts)
        fit: Affinities = rows[:, relations:].max(axis=0, initial=0.0)
        if fit.max(initial=0.0) < _SURE and agents(texts, rows[:, :relations]):
            fit = np.maximum(fit, lexicon.of(ANSWER_OF["who"].split()[:1])[:, relations:].max(axis=0, initial=0.0))
        if fit.max(initial=0.0) >= _SURE:
            fit /= fit.max()
            return fit
    return np.zeros(lexicon.elements - relations)


def barred_types(reading: RemainingWords, lexicon: Lexicon) -> Affinities:
    """Return 1 for each node type that a question cannot ask for, else 0, shape (types,).

    *Who* asks for persons, or for what acts like them, where a type surely holds persons.
    """
    asked, barred = _asked_first(reading), np.zeros(lexicon.elements - lexicon.relations)
    if asked not in ACTING:
        return barred
    persons = lexicon.says_types(ANSWER_OF[asked].split())
    acting = lexicon.of(list(ACTING[asked]))[:, lexicon.relations :].max(axis=0, initial=0.0) >= _SURE
    return np.where(persons.any() & ~(persons | acting), 1.0, barred)


def spoken(reading: RemainingWords) -> Iterator[str]:
    """Yield every text that `answer_types` may look up, so that their vectors can be computed in one batch."""
    for texts in heads(reading):
        yield from texts
    yield ANSWER_OF["who"].split()[0]
    yield from ACTING.get(_asked_first(reading), ())


def _asks_for_object(reading: RemainingWords) -> bool:
    """Whether the question begins like `what does X cite`: the noun behind is the subject, not what is asked for."""
    said = [word.text for word in reading.words[:2]]
    return len(said) == 2 and said[0] == "what" and said[1] in _HELPERS


def _head(reading: RemainingWords, at: int) -> list[str]:
    asked = ANSWER_OF.get(_asked(reading, at))
    return asked.split()[:_STANDS_FOR] if asked else _after(reading.words[at + 1 :])


def _asked_first(reading: RemainingWords) -> str:
    """Return the first question word, if it begins no relative clause (*those who*); empty without one."""
    said = reading.words
    at = next((at for at, word in enumerate(said) if word.text in _WH), -1)
    if at < 0 or (at and (said[at - 1].content or said[at - 1].text in _RELATIVE)):
        return ""
    return _asked(reading, at)


def _asked(reading: RemainingWords, at: int) -> str:
    """Return a question word, or the one that it asks like with the word behind it: *which people* like *who*."""
    word = reading.words[at].text
    behind = reading.words[at + 1].text if at + 1 < len(reading.words) else ""
    return ASKED_AS.get(behind, word) if word in ("which", "what") else word


def _after(words: tuple[Word, ...]) -> list[str]:
    """Return the first run of content words: each word, and all of them as one text if there are several."""
    run: list[str] = []
    for word in words:
        if word.content:
            run.append(word.text)
        elif run and word.text in FUNCTION_WORDS:
            break
        if len(run) == _HEAD:
            break
    return [*run, " ".join(run)] if len(run) > 1 else run


def agents(texts: list[str], relations: Affinities) -> bool:
    """Return whether the head names people by their work (`actors`, `screenwriter`) with a word of a relation."""
    named = [text.endswith(_AGENT) and stem(text) != text for text in texts]
    return bool(relations.size) and any(
        agent and row.max() >= _SURE for agent, row in zip(named, relations, strict=True)
    )
