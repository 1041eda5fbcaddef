"""Whether a sentence says no more than its sources say: every word, number and negation of it has to be theirs.

The check knows no meanings: a word that the cited evidence does not have is a claim that it does not bear out. So true
sentences in other words are refused too, and a false one needs the evidence's own words in an order that it has.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from search.language.turning import turning_words
from search.language.words import stem

PLAIN = frozenset(
    (
        *("a", "an", "and", "are", "as", "at", "by", "for", "from", "has", "have", "in", "is", "it", "its", "of", "on"),
        *("that", "the", "their", "them", "there", "these", "they", "this", "those", "to", "was", "were", "which"),
        *("who", "whose", "with"),
    )
)
"""Words that claim nothing by themselves. Words of amount (*all*, *only*, *most*) do."""
HEDGES = frozenset(["may", "might", "perhaps", "possibly", "probably"])
"""Words that leave a claim open."""
_COUNTS = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]
_WORD = re.compile(r"\d+(?:[.,]\d+)*|[^\W\d_]+(?:['’-][^\W\d_]+)*")
_CITED = re.compile(r"(?:\s*\[\d+\])+")
_NUMBER = re.compile(r"\[(\d+)\]")
_CLAUSE = re.compile(r"[;:.,](?!\d)|\n")
_LANGUAGE = "en"


@dataclass(frozen=True, slots=True)
class SentenceClaim:
    """A sentence that is known to be true, with the numbers of the sources that bear it out."""

    text: str
    sources: frozenset[int]


def is_borne_out(sentence: str, evidence: Mapping[int, str], claims: Sequence[SentenceClaim]) -> bool:
    """Whether a sentence says nothing but what the sources say that it cites as `[1]`.

    `evidence` is source number → what that source says. A claim counts as evidence where all of its sources are cited.
    What stands before a number is checked against that source; what several bear out, a number apart, may be said by
    any of them. Names joined by a word stand in the order in which the evidence joins them by it.
    """
    cited = frozenset(map(int, _NUMBER.findall(sentence)))
    if not cited or not cited <= evidence.keys():
        return False
    known = [_without_values(claim.text) for claim in claims if claim.sources <= cited]
    for text, numbers in _pieces(sentence):
        if not _is_said(text, [evidence[number] for number in numbers], known):
            return False
    return _is_in_order(_NUMBER.sub("", sentence), [*known, *(evidence[number] for number in cited)])


def is_hedged(sentence: str) -> bool:
    """Whether a sentence leaves open that what it says is so."""
    return not HEDGES.isdisjoint(word.casefold() for word in _WORD.findall(sentence))


def _pieces(sentence: str) -> Iterator[tuple[str, list[int]]]:
    """Yield what stands before each group of numbers with the group; the end of a sentence belongs to the last one."""
    groups = list(_CITED.finditer(sentence))
    starts = [0, *(group.end() for group in groups)]
    for at, group in enumerate(groups):
        numbers = [int(number) for number in _NUMBER.findall(group.group())]
        yield sentence[starts[at] : group.start()], numbers
        if at == len(groups) - 1:
            yield sentence[group.end() :], numbers


def _is_said(text: str, own: Sequence[str], known: Sequence[str]) -> bool:
    said, denied = _content("\n".join([*own, *known]))
    mine, mine_denied = _content(text)
    words = all(word in said for word in mine if not _is_number(word))
    words = words and all(word in denied for word in mine_denied if not _is_number(word))
    amounts, named = _numbers("\n".join(known)), _numbers_of_names("\n".join([*own, *known]))
    of_all = [_numbers(one) for one in own]
    open_ones = _numbers(text, without=named)
    numbers = all(one in amounts or all(one in each for each in of_all) for one in open_ones)
    return words and numbers and (bool(mine_denied) or not turning_words(text, _LANGUAGE))


def _content(text: str) -> tuple[frozenset[str], frozenset[str]]:
    """Return the stems of a text that are said, and those that stand behind a negation of their clause."""
    said: set[str] = set()
    denied: set[str] = set()
    for clause in _CLAUSE.split(text):
        turned = turning_words(clause, _LANGUAGE)
        for found in _WORD.finditer(clause):
            word = found.group()
            if word.casefold() in PLAIN or any(start <= found.start() < end for start, end in turned):
                continue
            is_denied = any(end <= found.start() for _, end in turned)
            (denied if is_denied else said).add(_normal(word))
    return frozenset(said), frozenset(denied)


def _numbers(text: str, without: frozenset[tuple[str, str]] = frozenset()) -> set[str]:
    """Return the numbers of a text, except those behind a word of a name with which they are a part of the name."""
    found = _WORD.findall(text)
    pairs = zip(["", *found], found, strict=False)
    return {_normal(word) for before, word in pairs if _is_number(_normal(word)) and (before, word) not in without}


def _numbers_of_names(text: str) -> frozenset[tuple[str, str]]:
    found = _WORD.findall(text)
    return frozenset(pair for pair in pairwise(found) if pair[0][0].isupper())


def _normal(word: str) -> str:
    """Return a word's stem; numbers without separators of thousands, counts in figures."""
    if word[0].isdigit():
        return re.sub(r",(?=\d{3}(?!\d))", "", word)
    folded = word.casefold()
    return str(_COUNTS.index(folded) + 1) if folded in _COUNTS else stem(folded)


def _is_number(word: str) -> bool:
    return word[:1].isdigit()


def _without_values(text: str) -> str:
    """Return a claim without the values of its single names, which stand in parentheses, and without its numbers."""
    return _NUMBER.sub("", re.sub(r"\([^()]*\)", "", text))


def _is_in_order(sentence: str, evidence: Sequence[str]) -> bool:
    """Whether each word between two names stands between them in the evidence in the same order, if it joins them."""
    clauses = [_WORD.findall(clause) for text in evidence for clause in _CLAUSE.split(text)]
    tokens = _WORD.findall(sentence)
    for at, word in enumerate(tokens):
        if word[0].isupper() or word[0].isdigit() or word.casefold() in PLAIN:
            continue
        before = next((one for one in reversed(tokens[:at]) if one[0].isupper()), None)
        after = next((one for one in tokens[at + 1 :] if one[0].isupper()), None)
        if before is None or after is None:
            continue
        joining = [clause for clause in clauses if {before, word, after} <= set(clause)]
        if joining and not any(_ordered(clause, before, word, after) for clause in joining):
            return False
    return True


def _ordered(clause: Sequence[str], before: str, word: str, after: str) -> bool:
    return any(one == word and before in clause[:at] and after in clause[at + 1 :] for at, one in enumerate(clause))
