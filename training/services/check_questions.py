"""prepare_questions: what storing questions as a set would give, with everything that is wrong with them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from search.models import KnowledgeBase, Release
from search.services.knowledge.nearest_nodes import nearest_id, unknown_ids
from training.data.examples import BadQuestions, Example
from training.data.near_duplicates import DuplicatePair, duplicate_pairs, groups_of
from training.data.splits import counts
from training.data.splitting import across_splits, moved_groups, split_by_group

REFUSE, KEEP, MOVE = "refuse", "keep", "move"
SHOWN = 100
"""Pairs and unknown answers that a check lists; the numbers are of all."""
WITH_QUESTIONS = 3


@dataclass(frozen=True, slots=True)
class SplitOptions:
    """What is done about splits.

    `duplicates` says what happens to questions of different splits that say the same: `refuse` the set, `keep` them
    (the check still lists them), or `move` each group of them as a whole into the split `into`. `shares` divides a set
    without splits, drawn with `seed`.
    """

    duplicates: str = REFUSE
    into: str = ""
    shares: Mapping[str, float] = field(default_factory=dict)
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Prepared:
    """Questions as they would be stored, their check as JSON, and sentences that say why they are refused."""

    examples: tuple[Example, ...]
    checks: dict[str, Any]
    refused: tuple[str, ...] = ()


def prepare_questions(base: KnowledgeBase, examples: Sequence[Example], options: SplitOptions) -> Prepared:
    """Split and check questions; nothing is written.

    Raises BadQuestions when the options do not fit the questions. Duplicates across splits, and a set none of whose
    answers is a node, are not raised but told in `refused`, so that a preview can show both.
    """
    pairs = duplicate_pairs(examples)
    groups = groups_of(len(examples), pairs)
    divided = _divided(examples, groups, options)
    leaking = across_splits(divided, groups)
    moved = moved_groups(divided, groups, options.into) if options.duplicates == MOVE and leaking else divided
    checks = {
        "splits": counts(moved),
        "duplicates": _duplicates(moved, pairs, groups)
        | {"moved": sum(one.split != other.split for one, other in zip(divided, moved, strict=True))},
        "answers": _answers(base.active_release, moved),
    }
    return Prepared(tuple(moved), checks, tuple(_refused(checks, options)))


def _divided(examples: Sequence[Example], groups: Sequence[int], options: SplitOptions) -> list[Example]:
    if options.duplicates not in (REFUSE, KEEP, MOVE):
        message = f"{options.duplicates[:80]!r} is no way to treat duplicates; there are {REFUSE}, {KEEP} and {MOVE}."
        raise BadQuestions([message])
    if not options.shares:
        return list(examples)
    if split := next((example.split for example in examples if example.split), ""):
        raise BadQuestions([f"The questions have splits already, such as {split!r}; they are not divided again."])
    return split_by_group(examples, groups, options.shares, options.seed)


def _duplicates(examples: Sequence[Example], pairs: Sequence[DuplicatePair], groups: Sequence[int]) -> dict[str, Any]:
    sizes = Counter(groups)
    across = [pair for pair in pairs if examples[pair.first].split != examples[pair.second].split]
    within = [pair for pair in pairs if examples[pair.first].split == examples[pair.second].split]
    return {
        "groups": sum(size > 1 for size in sizes.values()),
        "questions": sum(size for size in sizes.values() if size > 1),
        "by_kind": dict(Counter(pair.kind for pair in pairs)),
        "across_splits": len(across_splits(examples, groups)),
        "shown": [_pair(examples, pair) for pair in (*across, *within)[:SHOWN]],
    }


def _pair(examples: Sequence[Example], pair: DuplicatePair) -> dict[str, Any]:
    first, second = (
        {"id": one.id, "text": one.text[:300], "split": one.split}
        for one in (examples[pair.first], examples[pair.second])
    )
    return {
        "first": first, "second": second, "kind": pair.kind, "likeness": pair.likeness,
        "across_splits": first["split"] != second["split"],
    }  # fmt: skip


def _answers(release: Release | None, examples: Sequence[Example]) -> dict[str, Any]:
    """Return how many of the answers are nodes of the release, and the unknown ones with the nearest ids."""
    if release is None:
        return {"release": None}
    asked = Counter(answer for example in examples for answer in example.answers)
    unknown = unknown_ids(release, asked)
    shown: dict[str, list[str]] = {}
    without = 0
    for example in examples:
        missing = [answer for answer in example.answers if answer in unknown]
        without += len(missing) == len(example.answers)
        for answer in missing:
            if answer in shown or len(shown) < SHOWN:
                shown.setdefault(answer, []).append(example.id)
    return {
        "release": release.name,
        "known": len(asked) - len(unknown),
        "unknown": len(unknown),
        "questions_without": without,
        "shown": [
            {"answer": answer, "nearest": nearest_id(release, answer), "questions": ids[:WITH_QUESTIONS]}
            for answer, ids in shown.items()
        ],
    }


def _refused(checks: Mapping[str, Any], options: SplitOptions) -> list[str]:
    found = []
    answers, duplicates = checks["answers"], checks["duplicates"]
    if answers["release"] is not None and not answers["known"]:
        first = answers["shown"][0]
        meant = f" (is {first['nearest']!r} meant?)" if first["nearest"] else ""
        found.append(
            f"None of the answers is a node of {answers['release']}, for example {first['answer']!r}{meant}; "
            "these questions are about another knowledge base, or the answers are not written as ids of nodes."
        )
    if duplicates["across_splits"] and options.duplicates == REFUSE:
        pair = next(pair for pair in duplicates["shown"] if pair["across_splits"])
        first, second = pair["first"], pair["second"]
        found.append(
            f"Questions that say the same are in different splits, in {duplicates['across_splits']:,} cases: "
            f"{_placed(first)} is near to {_placed(second)} ({pair['kind']}). Move each such group into one split, or "
            "choose to keep them."
        )
    return found


def _placed(question: Mapping[str, str]) -> str:
    return f"{question['id']!r} in {question['split'] or 'no split'!r}"
