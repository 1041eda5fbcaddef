"""Division into splits that keeps duplicate questions in one split."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from training.data.examples import BadQuestions, Example
from training.data.hashes import normalised

LONGEST_SPLIT = 100


def split_by_group(
    examples: Sequence[Example], groups: Sequence[int], shares: Mapping[str, float], seed: int
) -> list[Example]:
    """Return the questions, each in a split. `shares` are proportions: 3 to 1 means 75 % and 25 %.

    The split of a group is computed from a hash of the seed and of its alphabetically first text, so that a question
    keeps its split when others are added. Therefore the shares are only met on average. Raises BadQuestions if a split
    is empty.
    """
    first: dict[int, str] = {}
    for example, group in zip(examples, groups, strict=True):
        text = normalised(example.text) or example.text
        first[group] = min(first.get(group, text), text)
    split_of = {group: _drawn(text, shares, seed) for group, text in first.items()}
    done = [replace(example, split=split_of[group]) for example, group in zip(examples, groups, strict=True)]
    there = {example.split for example in done}
    if empty := [split for split in shares if split not in there]:
        message = (
            f"{len(examples):,} questions leave the split {empty[0]!r} empty; choose other shares or another seed."
        )
        raise BadQuestions([message])
    return done


def across_splits(examples: Sequence[Example], groups: Sequence[int]) -> set[int]:
    """Return the groups whose questions are in more than one split."""
    splits: dict[int, str] = {}
    return {
        group
        for example, group in zip(examples, groups, strict=True)
        if splits.setdefault(group, example.split) != example.split
    }


def moved_groups(examples: Sequence[Example], groups: Sequence[int], split: str) -> list[Example]:
    """Return the questions; each group that was in several splits is moved into `split` as a whole.

    Raises BadQuestions when no question is in that split.
    """
    there = Counter(example.split for example in examples)
    if split not in there:
        named = ", ".join(repr(one) for one in sorted(there))
        raise BadQuestions([f"Duplicates cannot be moved into the split {split!r}; the splits are: {named}."])
    leaking = across_splits(examples, groups)
    return [
        replace(example, split=split) if group in leaking else example
        for example, group in zip(examples, groups, strict=True)
    ]


def parse_shares(text: str) -> dict[str, float]:
    """Return the shares in a text such as `train=80, val=10, test=10`; an empty dict for an empty text.

    Raises BadQuestions with every part that is not a split and a positive number.
    """
    shares: dict[str, float] = {}
    faults: list[str] = []
    for part in filter(None, (part.strip() for part in text.split(","))):
        name, equals, number = (word.strip() for word in part.partition("="))
        share = _number(number)
        if not equals or not name or len(name) > LONGEST_SPLIT or "\x00" in name or share is None:
            faults.append(f"{part[:80]!r} is no share of a split; write them as train=80, val=10, test=10.")
        elif name in shares:
            faults.append(f"The split {name!r} is there twice.")
        else:
            shares[name] = share
    if faults:
        raise BadQuestions(faults)
    return shares


def _number(text: str) -> float | None:
    plain = text.removesuffix("%").strip()
    if not plain.replace(".", "", 1).isascii() or not plain.replace(".", "", 1).isdigit() or len(plain) > 12:
        return None
    return float(plain) or None


def _drawn(text: str, shares: Mapping[str, float], seed: int) -> str:
    said = f"{seed}\n{text}".encode("utf-8", "surrogatepass")
    point = int.from_bytes(hashlib.blake2b(said, digest_size=8).digest(), "big") / 2**64 * sum(shares.values())
    for split, share in shares.items():
        point -= share
        if point < 0:
            return split
    return list(shares)[-1]
