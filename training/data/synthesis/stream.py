"""synthesise: questions with all their answers, made of a knowledge base alone, one after the other."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

import numpy as np

from search.domain.plan import Plan
from search.domain.run_context import UNOBSERVED, RunContext
from training.data.examples import Example
from training.data.hashes import normalised
from training.data.synthesis.base import Base
from training.data.synthesis.make import Maker
from training.data.synthesis.plans import plan_of
from training.data.synthesis.recipes import BARE, CONDITIONED, KINDS
from training.data.synthesis.tools import SynthesisTools

PART = "making questions"
"""Name of the part of the work that progress is told of."""
KIND = "kind"
"""Slice of each question: its kind."""
A_BLOCK = 128
"""Nodes that are read at once."""
BARREN = 3_000
"""Nodes in a row that gave no new question after which the base has no more to give."""


def synthesise(
    tools: SynthesisTools,
    number: int,
    seed: int = 0,
    run: RunContext = UNOBSERVED,
    *,
    conditions: bool = False,
    bare: bool = False,
) -> Iterator[Example]:
    """Yield up to `number` questions with all their answers; the same seed gives the same questions.

    With `conditions`, exclusions, orders, comparisons and numbers are asked for too, where the base's language is
    English. With `bare`, some questions say names and words of texts alone.

    Each has words of its own, never its answer's name, and its kind as a slice (`KINDS`). The nodes asked about are
    drawn by type, in proportion to the square root of the type's size, only from types that may be answers. There are
    fewer than `number` if the base has no more to give. Memory grows by a hash a question. Raises RunCancelled,
    DeadlineExceeded, and what the tools raise.
    """
    for example, _ in with_plans(tools, number, seed, run, conditions=conditions, bare=bare):
        yield example


def with_plans(
    tools: SynthesisTools,
    number: int,
    seed: int = 0,
    run: RunContext = UNOBSERVED,
    *,
    conditions: bool = False,
    bare: bool = False,
) -> Iterator[tuple[Example, Plan]]:
    """Yield the questions of `synthesise`, each with the plan that it stands for."""
    base = Base.of(tools)
    english = base.schema.language.lower().startswith("en")
    kinds = (*KINDS, *(BARE if bare else ()), *(CONDITIONED if conditions and english else ()))
    maker = Maker(tools, base, kinds)
    if not len(base.types) or not any(maker.shares):
        run.log("There is nothing to ask about: no node has an edge, a text or a field that may be asked for.")
        return
    said: set[bytes] = set()
    barren = block = 0
    while len(said) < number and barren < BARREN:
        chance = np.random.default_rng([seed, block])
        for node in maker.reader.nodes(_drawn(base, chance)):
            run.check()
            made = maker.question(node, chance)
            hashed = _hash(made.text) if made is not None else b""
            if made is None or hashed in said:
                barren += 1
                continue
            barren = 0
            said.add(hashed)
            answers = tuple(tools.nodes.ids(made.answers))
            example = Example(f"synthesised-{seed}-{len(said):06d}", made.text, answers, "", {KIND: made.draft.kind})
            yield example, plan_of(made.draft, base.schema, lambda keys: tools.nodes.ids(list(keys)))
            run.progress(PART, len(said), number)
            if len(said) >= number:
                return
        block += 1
    if len(said) < number:
        run.log(f"The base gave {len(said):,} different questions; {number:,} were wanted.")


def _drawn(base: Base, chance: np.random.Generator) -> list[int]:
    """Return the keys of a block of nodes."""
    types = chance.choice(len(base.types), size=A_BLOCK, p=base.shares)
    return [int((own := base.of_type(int(base.types[at])))[chance.integers(len(own))]) for at in types]


def _hash(text: str) -> bytes:
    return hashlib.blake2b((normalised(text) or text).encode(), digest_size=8).digest()
