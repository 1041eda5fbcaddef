"""Finds duplicate questions: the same text, the same words, or nearly the same words with a shared answer.

Duplicates must be in one split, because a model that has learned from one of them knows the other. Two questions are

- `same text`: their normalised texts are equal (without case, punctuation and spaces), whatever their answers;
- `same words`: the same words in another order, whatever their answers;
- `near`: they share an answer, and their content words differ only in order, endings, spelling mistakes and phrases
  such as "please tell me". Without a shared answer, they are questions of one pattern about different things, and the
  answer to one does not help with the other.

The likeness of two questions is the smaller of two Dice coefficients over the stems of their content words. The first
gives all words the same weight, so that `who wrote it` is not like `who directed it`. The second weighs words by their
inverse document frequency in the set (Spärck Jones 1972), so that long questions of one pattern about different names
are not alike.

Only candidates are compared. Each pair of an answer and a rare word is a block; it holds the questions with this answer
and this word. A block is sorted by text, and each question is compared only with the next `WINDOW` questions of the
block (the sorted neighbourhood method, Hernández and Stolfo 1995). So the time grows linearly with the number of
questions.
"""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from rapidfuzz import fuzz, process

from search.language.words import content, stem
from training.data.examples import Example
from training.data.hashes import normalised

SAME_TEXT, SAME_WORDS, NEAR = "same text", "same words", "near"
LEAST = 0.9
"""Least likeness of near questions, from 0 to 1.

Chosen on the train splits of STaRK's questions about Amazon, MAG and Prime (20,065 questions). Of their pairs with a
shared answer, none above this value has different meanings; between 0.86 and 0.9, every second pair has. In tests with
300 changed copies of questions each, it finds 84 to 89 % of the copies with a missing letter or two swapped letters,
93 to 95 % of those with a plural, and 98 % of those with another order of words or with "Please tell me" before them.
"""
MISSPELT = 80.0
"""Least similarity (`rapidfuzz.fuzz.ratio`) of a stem and its misspelling, of at least `MISSPELT_LENGTH` letters."""
MISSPELT_LENGTH = 4
ROUGHLY = 70.0
"""Least `fuzz.ratio` of the sorted stems of candidates that are compared word by word."""
BLOCKING_ANSWERS, BLOCKING_WORDS = 6, 4
"""Numbers of a question's answers (with the smallest hashes) and words (the rarest) from which its blocks are made."""
WINDOW = 20
PAIRS_AT_ONCE = 500_000

Pairs = NDArray[np.int64]
"""Shape (pairs, 2): each row has the positions of two questions, the smaller first."""


@dataclass(frozen=True, slots=True)
class DuplicatePair:
    """Two duplicate questions by their positions; `likeness` is from 0 to 1."""

    first: int
    second: int
    kind: str
    likeness: float


def duplicate_pairs(examples: Sequence[Example], least: float = LEAST) -> list[DuplicatePair]:
    """Return pairs of duplicate questions, sorted by position; they connect all questions of a group.

    Of n equal texts, each is paired with the one before it, which gives n-1 pairs. `least` is the least likeness of
    near questions.
    """
    texts = [normalised(example.text) or example.text for example in examples]
    found = {(a, b): DuplicatePair(a, b, SAME_TEXT, 1.0) for a, b in _equal(texts)}
    for a, b in _equal([" ".join(sorted(text.split())) for text in texts]):
        found.setdefault((a, b), DuplicatePair(a, b, SAME_WORDS, 1.0))
    stems = [sorted({stem(word) for word in content(text)} or set(text.split())) for text in texts]
    rarity = _rarity(stems)
    in_order = [" ".join(words) for words in stems]
    for pairs in _candidates(examples, stems, rarity, in_order):
        left, right = ([in_order[at] for at in column] for column in pairs.T.tolist())
        rough = process.cpdist(left, right, scorer=fuzz.ratio, score_cutoff=ROUGHLY, dtype=np.float32)
        for first, second in pairs[rough >= ROUGHLY].tolist():
            alike = likeness(stems[first], stems[second], rarity)
            if alike >= least and texts[first] != texts[second]:
                found.setdefault((first, second), DuplicatePair(first, second, NEAR, round(alike, 3)))
    return [found[at] for at in sorted(found)]


def likeness(first: Sequence[str], second: Sequence[str], rarity: dict[str, float]) -> float:
    """Return the likeness of two questions, from 0 to 1, by their stems. A misspelt stem counts as the right one."""
    here, there = set(first), set(second)
    both = here & there
    alone = [sorted(here - there), sorted(there - here)]
    plain, weighed = 2.0 * len(both), 2.0 * sum(rarity[word] for word in both)
    whole = sum(rarity[word] for words in (first, second) for word in words)
    count = len(here) + len(there)
    for word in alone[0]:
        other = next((one for one in alone[1] if _misspelt(word, one)), None)
        if other is not None:
            alone[1].remove(other)
            plain += 2
            weighed += rarity[word] + rarity[other]
    return min(plain / count, weighed / whole) if count else 0.0


def groups_of(count: int, pairs: Sequence[DuplicatePair]) -> list[int]:
    """Return the group of each of `count` questions: the smallest position that is connected with it by pairs."""
    group = list(range(count))

    def root(at: int) -> int:
        while group[at] != at:
            group[at] = group[group[at]]
            at = group[at]
        return at

    for pair in pairs:
        first, second = sorted((root(pair.first), root(pair.second)))
        group[second] = first
    return [root(at) for at in range(count)]


def _rarity(stems: Sequence[Sequence[str]]) -> dict[str, float]:
    """Return the inverse document frequency of each stem."""
    counts = Counter(word for words in stems for word in words)
    return {word: math.log(1 + len(stems) / count) for word, count in counts.items()}


def _misspelt(one: str, other: str) -> bool:
    """Whether one stem may be a misspelling of the other. Numbers never are, because they name different things."""
    long_enough = min(len(one), len(other)) >= MISSPELT_LENGTH
    return long_enough and one.isalpha() and other.isalpha() and fuzz.ratio(one, other) >= MISSPELT


def _equal(texts: Sequence[str]) -> Iterator[tuple[int, int]]:
    before: dict[str, int] = {}
    for at, text in enumerate(texts):
        if text in before:
            yield before[text], at
        before[text] = at


def _candidates(
    examples: Sequence[Example], stems: Sequence[Sequence[str]], rarity: dict[str, float], in_order: Sequence[str]
) -> Iterator[Pairs]:
    """Yield the pairs of questions that share a block, in several arrays; each pair occurs once."""
    blocks, members = _blocks(examples, stems, rarity)
    rank = np.empty(len(examples), dtype=np.int64)
    rank[np.array(sorted(range(len(examples)), key=in_order.__getitem__), dtype=np.int64)] = np.arange(len(examples))
    order = np.lexsort((rank[members], blocks))
    blocks, members = blocks[order], members[order]
    codes: NDArray[np.int64] = np.empty(0, dtype=np.int64)
    for step in range(1, WINDOW + 1):
        together = np.flatnonzero(blocks[:-step] == blocks[step:])
        ends = np.sort(np.stack([members[together], members[together + step]], axis=1), axis=1)
        codes = np.union1d(codes, ends[:, 0] * len(examples) + ends[:, 1])
    for start in range(0, len(codes), PAIRS_AT_ONCE):
        yield np.stack(np.divmod(codes[start : start + PAIRS_AT_ONCE], len(examples)), axis=1)


def _blocks(
    examples: Sequence[Example], stems: Sequence[Sequence[str]], rarity: dict[str, float]
) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """Return the hash of each block and the position of a question in it, as two columns of equal length."""
    known: dict[str, int] = {}
    blocks: list[int] = []
    members: list[int] = []
    for at, (example, words) in enumerate(zip(examples, stems, strict=True)):
        rare = sorted(words, key=lambda word: (-rarity[word], word))[:BLOCKING_WORDS]
        answers = sorted(_hash(answer, known) for answer in example.answers)[:BLOCKING_ANSWERS]
        mine = [(answer * 0x9E3779B97F4A7C15 + _hash(word, known)) % 2**64 for answer in answers for word in rare]
        blocks += mine
        members += [at] * len(mine)
    return np.array(blocks, dtype=np.uint64), np.array(members, dtype=np.int64)


def _hash(text: str, known: dict[str, int]) -> int:
    if text not in known:
        digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
        known[text] = int.from_bytes(digest, "big")
    return known[text]
