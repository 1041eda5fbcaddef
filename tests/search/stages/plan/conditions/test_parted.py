"""Names in a list, and a candidate that walks from each another way: `both fever and weight loss`."""

from __future__ import annotations

import numpy as np
import pytest

from search.interfaces import Mention
from search.language.names import Named
from search.language.question import AnalysedQuestion
from search.stages.plan.conditions.paths import parted
from search.stages.plan.enumeration.enumerate import Branch, PlanCandidate, Start
from search.stages.plan.knowledge.shape import Metapath, SchemaStep

DISEASE, SYMPTOM, DRUG = range(3)
SHOWS, CAUSES, TREATS = range(3)
BY_SYMPTOM = Metapath(SYMPTOM, (SchemaStep(SHOWS, "in", DISEASE),))
BY_DRUG = Metapath(SYMPTOM, (SchemaStep(CAUSES, "in", DRUG), SchemaStep(TREATS, "out", DISEASE)))


def asked(text: str) -> AnalysedQuestion:
    names = []
    for key, said in enumerate(("fever", "weight loss")):
        start = text.index(said)
        names.append(
            Named(Mention(start, start + len(said), said, (key,)), len(said.split()), False, False, True, False)
        )
    return AnalysedQuestion(text, sorted(names, key=lambda one: one.mention.start))


def joined(*paths: Metapath) -> PlanCandidate:
    keys = np.array([1], dtype=np.int32)
    branches = tuple(
        Branch(Start(at, SYMPTOM, (at,)), path, keys, (DISEASE,), 1) for at, path in enumerate(paths)
    )  # fmt: skip
    return PlanCandidate.of(branches, (DISEASE,), 1)


@pytest.mark.parametrize(
    ("text", "pairs"),
    [
        ("diseases that cause both fever and weight loss", 1),
        ("diseases with weight loss or fever", 1),
        # A word of its own says another relation of the second name.
        ("diseases with fever and treated with what causes weight loss", 0),
    ],
)
def test_listed_names_that_are_reached_another_way_each_are_told(text: str, pairs: int) -> None:
    assert parted(asked(text), joined(BY_SYMPTOM, BY_DRUG)) == pairs
    assert parted(asked(text), joined(BY_SYMPTOM, BY_SYMPTOM)) == 0
    assert parted(asked(text), joined(BY_SYMPTOM)) == 0
