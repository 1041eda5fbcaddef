"""Find the answer type of a question: compare its head with types and their aliases (docs/planning.md, point 2)."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from search.language.languages import language
from search.language.question import AnalysedQuestion, RemainingWords, Word
from search.language.words import (
    ACTING,
    ANSWER_OF,
    ARTICLES,
    ASKED_AS,
    BEING,
    FUNCTION_WORDS,
    INDEFINITE_WORDS,
    SORTING_WORDS,
    WHICH,
    content,
    stem,
    words,
)
from search.stages.plan.knowledge.lexicon import Affinities, Lexicon

_WH = frozenset(("what", "which", "who", "whom", "when", "where", "how"))
_THIS = frozenset(("this", "these", "that", "those"))
_RELATIVE = language("en").set("turning", "relative_after")
_OF_KIND = _WH - WHICH - {"how"}
_HELPERS = frozenset(("do", "does", "did", "can", "could", "has", "have", "had", "will", "would"))
_STANDS_FOR = 4
"""Most words that a question word stands for."""
_HEAD = 3
"""Most content words of a head."""
AGENT = ("er", "or", "ers", "ors", "ist", "ists", "ian", "ians")
_PAST, _THIRD, _BY = "ed", "s", "by"
_OTHERS = -1.0
"""Fit of other types where the head is a whole phrase of one: *disease groups* are no diseases."""
_SURE = 0.5
"""Least affinity from which a type or relation counts as recognised."""


class Head(NamedTuple):
    """Texts that may name the answer type; `asked` where they stand behind a question word (*which topics*)."""

    texts: list[str]
    asked: bool


def heads(reading: RemainingWords, lexicon: Lexicon, beside: Collection[int] = ()) -> list[Head]:
    """Return the heads that may name the answer type, the likeliest first.

    First come the words after a question word (`which films`), then the words after `this` (`X is a film by this
    person`), then the first content words of the question (`papers on parsing`). A question word that itself names an
    answer (`who`) gives the words it stands for. Such words right behind a noun begin a relative clause, in which the
    noun is meant: `authors who work at X`, `journals that print works`, `a gift for someone who cooks`; they come last.
    `beside` holds the places of words that say the type of the name behind them (`the film X`), so they name no answer.
    """
    if _asks_for_object(reading) or _asks_for_subject(reading, lexicon) or _asks_for_means(reading):
        return []
    said = tuple(replace(word, content=False) if word.start in beside else word for word in reading.words)
    asking = [at for at, word in enumerate(said) if word.text in _WH]
    this = [at for at, word in enumerate(said) if word.text in _THIS]
    relative = [at for at in (*asking, *this) if _is_relative(said, at, lexicon)]
    found = [Head(_kind(said, at, lexicon) or _head(said, at), True) for at in asking if at not in relative]
    found += [Head(_after(said[at + 1 :]), False) for at in this if at not in relative]
    found.append(Head(_after(said), False))
    found += [Head(_head(said, at) if at in asking else _after(said[at + 1 :]), False) for at in relative]
    return [head for head in found if head.texts]


def asks_for_thing(reading: RemainingWords) -> bool:
    """Whether a question asks for *something* or *anything*, which says no type."""
    return _indefinite(reading) >= 0


def _asks_for_means(reading: RemainingWords) -> bool:
    """Whether a question asks for a thing that does something: in *something to make feet warm* the verb is no type."""
    behind = reading.words[_indefinite(reading) + 1 :]
    return asks_for_thing(reading) and bool(behind) and behind[0].text == "to"


def _indefinite(reading: RemainingWords) -> int:
    """Return the place of the indefinite word before all words of content, or -1."""
    first = next((at for at, one in enumerate(reading.words) if one.content or one.text in INDEFINITE_WORDS), -1)
    return first if first >= 0 and reading.words[first].text in INDEFINITE_WORDS else -1


def _is_relative(said: Sequence[Word], at: int, lexicon: Lexicon) -> bool:
    """Whether a question word or `that` begins a relative clause: behind a noun or *someone*, and before a clause.

    Behind a verb it asks: `X wrote which books`, `the films that X directed starred who`.
    """
    if not at or said[at].text == "what":
        return False
    if said[at - 1].text in _RELATIVE:
        return True
    if not said[at - 1].content:
        return False
    if said[at].text in _WH and at + 1 == len(said):
        return False
    return not _is_verb(said[at - 1].text, lexicon)


def kinds_before(question: AnalysedQuestion, lexicon: Lexicon) -> frozenset[int]:
    """Return the places of values right before the noun of another type, which they describe: *conference papers*.

    Such a word may name a type as well, but the noun behind it says what is asked for.
    """
    behind = {word.start: word.text for word in question.said if word.content}
    found = set()
    for one in question.values:
        rest = question.text[one.end :]
        gap = len(rest) - len(rest.lstrip())
        noun = behind.get(one.end + gap, "")
        if gap and noun and not one.named and lexicon.names_types([noun]).any():
            found.add(one.start)
    return frozenset(found)


def kinds_asked(reading: RemainingWords, lexicon: Lexicon) -> list[str]:
    """Return the words with which a question asks what kind of something is meant, if a node type says that."""
    said = reading.words
    asked = [_kind(said, at, lexicon) for at, word in enumerate(said) if word.text in _WH and not word.content]
    return [text for texts in asked for text in texts]


def _kind(said: Sequence[Word], at: int, lexicon: Lexicon) -> list[str]:
    """Return the word of a question for the kind of something (`what types are the X`, `what kind of film is X`).

    Only if a node type is what it asks for, as genre is; else it asks for the noun behind it (`what kind of film won`).
    """
    rest = said[at + 1 :]
    if not rest or rest[0].text not in SORTING_WORDS or not lexicon.says_types([rest[0].text]).any():
        return []
    being = next((place for place, word in enumerate(rest) if word.text in BEING), len(rest))
    behind = rest[being + 1 : being + 2]
    asked = being < len(rest) and (being == 1 or not behind or behind[0].text in (*ARTICLES, *_THIS))
    return [rest[0].text] if asked else []


def _is_verb(word: str, lexicon: Lexicon) -> bool:
    """Whether a word has the form of a past tense, or says a relation and is no noun: neither a type nor who acts."""
    if word.endswith(_PAST):
        return True
    said = bool(lexicon.said_relations(word)) and not lexicon.says_types([word]).any()
    return said and not word.endswith(AGENT)


def head_words(reading: RemainingWords) -> list[str]:
    """Return the words of the question that may name the answer type: behind a question word, and the first ones.

    Words that only stand for a question word (`who`: a person) are not among them.
    """
    if _asks_for_object(reading):
        return []
    asked = [at for at, word in enumerate(reading.words) if word.text in WHICH]
    runs = [*(_after(reading.words[at + 1 :]) for at in asked), _after(reading.words)]
    return [text for run in runs for text in run]


def answer_types(reading: RemainingWords, lexicon: Lexicon, beside: Collection[int] = ()) -> Affinities:
    """Return how well each node type fits the head of the question, in [0, 1]; all zero when no head fits.

    Behind a question word, a word that is only like a type counts, too (*which topics*, of tags). Elsewhere most such
    words describe a thing: *a light chair* asks for no colour. `beside` are the places of words that say the type of a
    name (`heads`).
    """
    relations = lexicon.relations
    for texts, asked in heads(reading, lexicon, beside):
        rows = lexicon.of(texts)
        fit: Affinities = rows[:, relations:].max(axis=0, initial=0.0)
        acting = agents(texts, rows[:, :relations])
        if fit.max(initial=0.0) < _SURE and acting:
            fit = np.maximum(fit, lexicon.of(ANSWER_OF["who"].split()[:1])[:, relations:].max(axis=0, initial=0.0))
        if fit.max(initial=0.0) >= _SURE and (asked or acting or lexicon.says_types(texts).any()):
            if (whole := lexicon.whole_type(max((words(text) for text in texts), key=len))) is not None:
                return np.where(np.arange(len(fit)) == whole, 1.0, _OTHERS)
            if (named := lexicon.names_types(texts)).any():
                # *Pathways* asks for these, not for pathway terms.
                fit = np.where(lexicon.says_types(texts) & ~named, 0.0, fit)
            fit /= fit.max()
            return fit
    return np.zeros(lexicon.elements - relations)


def asked_agent(reading: RemainingWords, lexicon: Lexicon) -> int | None:
    """Return the place among the content words of the noun for who acts that a question asks for (`which actors`).

    Beside a verb of the same relation (`starred which actors`) it says no hop of its own.
    """
    for texts, _ in heads(reading, lexicon)[:1]:
        if agents(texts, lexicon.of(texts)[:, : lexicon.relations]):
            said = [word.text for word in reading.content]
            return next((said.index(text) for text in texts if text.endswith(AGENT) and text in said), None)
    return None


def says_kind(reading: RemainingWords) -> bool:
    """Whether a question word says what is asked for, be a type known by it or not: *who*, *where*, *which topics*."""
    said = [word.text for word in reading.words]
    expressions = [text for text in said if " " in text]  # *where can i buy*
    if _asked_first(reading) in _OF_KIND or any(words(text)[0] in _OF_KIND for text in expressions):
        return True
    return any(here in WHICH and behind not in (*BEING, *_HELPERS) for here, behind in pairwise(said))


def barred_types(reading: RemainingWords, lexicon: Lexicon) -> Affinities:
    """Return 1 for each node type that a question cannot ask for, else 0, shape (types,).

    *Who* asks for persons, or for what acts like them, where a type surely holds persons; *something* for none.
    """
    asked, barred = _asked_first(reading), np.zeros(lexicon.elements - lexicon.relations)
    if asks_for_thing(reading):
        return np.where(lexicon.says_types(ANSWER_OF["who"].split()), 1.0, barred)
    if asked not in ACTING:
        return barred
    persons = lexicon.says_types(ANSWER_OF[asked].split())
    acting = lexicon.of(list(ACTING[asked]))[:, lexicon.relations :].max(axis=0, initial=0.0) >= _SURE
    return np.where(persons.any() & ~(persons | acting), 1.0, barred)


def spoken(reading: RemainingWords) -> Iterator[str]:
    """Yield every text that `answer_types` may look up, so that their vectors can be computed in one batch."""
    for at, word in enumerate(reading.words):
        if word.text in _WH or word.text in _THIS:
            yield from _head(reading.words, at)
            yield from _after(reading.words[at + 1 :])
    yield from _after(reading.words)
    yield ANSWER_OF["who"].split()[0]
    yield from ACTING.get(_asked_first(reading), ())


def _asks_for_object(reading: RemainingWords) -> bool:
    """Whether the question begins like `what does X cite`: the noun behind is the subject, not what is asked for."""
    said = [word.text for word in reading.words[:2]]
    return len(said) == 2 and said[0] == "what" and said[1] in _HELPERS


def _asks_for_subject(reading: RemainingWords, lexicon: Lexicon) -> bool:
    """Whether the question begins like `what reads CSV files`: what stands behind the verb is its object."""
    said = reading.words[:2]
    if len(said) < 2 or said[0].text not in WHICH or not said[1].text.endswith(_THIRD):
        return False
    return _is_verb(said[1].text, lexicon) and not lexicon.says_types([said[1].text]).any()


def _head(said: Sequence[Word], at: int) -> list[str]:
    asked = ANSWER_OF.get(_asked(said, at))
    return asked.split()[:_STANDS_FOR] if asked else _after(said[at + 1 :])


def _asked_first(reading: RemainingWords) -> str:
    """Return the first question word, if it begins no relative clause (*those who*); empty without one."""
    said = reading.words
    at = next((at for at, word in enumerate(said) if word.text in _WH), -1)
    if at < 0 or (at and (said[at - 1].content or said[at - 1].text in _RELATIVE)):
        return ""
    return _asked(said, at)


def _asked(said: Sequence[Word], at: int) -> str:
    """Return a question word, or the one that it asks like with the word behind it: *which people* like *who*."""
    word = said[at].text
    behind = said[at + 1].text if at + 1 < len(said) else ""
    return ASKED_AS.get(behind, word) if word in WHICH else word


def _after(said: Sequence[Word]) -> list[str]:
    """Return the first run of content words: each word, and all of them as one text if there are several.

    Of an expression (`release dates`) the last word of content is there, too: its noun. A participle before *by* is
    none of them: *articles authored by X* asks for no authors.
    """
    run: list[str] = []
    for at, word in enumerate(said):
        if word.content:
            if run and word.text.endswith(_PAST) and at + 1 < len(said) and said[at + 1].text == _BY:
                break
            run.append(word.text)
        elif run and word.text in FUNCTION_WORDS:
            break
        if len(run) == _HEAD:
            break
    nouns = [parts[-1] for text in run if " " in text and (parts := content(text))]
    return [*run, *nouns, *([" ".join(run)] if len(run) > 1 else [])]


def agents(texts: list[str], relations: Affinities) -> bool:
    """Return whether the head names people by their work (`actors`, `screenwriter`) with a word of a relation."""
    named = [text.endswith(AGENT) and stem(text) != text for text in texts]
    return bool(relations.size) and any(
        agent and row.max() >= _SURE for agent, row in zip(named, relations, strict=True)
    )
