"""synthesise: make questions with answers of a knowledge base, and keep them as a question set."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from search.domain.job_kinds import JobKind, JobTarget, argument
from search.domain.run_context import RunContext
from training.data.synthesis import PART
from training.jobs.units import ASKING
from training.services.synthesise import MOST, NUMBER, SET_NAME, keep_questions


@dataclass(frozen=True)
class SynthesiseJob(JobKind):
    """Makes questions with answers of a knowledge base, and keeps them as a question set (Kind)."""

    units: ClassVar[Mapping[str, str]] = ASKING
    targets: ClassVar[tuple[str, ...]] = ("knowledge_base", "release")

    number: int = argument(NUMBER, "Questions to make; there are fewer if the base gives no more.", low=1, high=MOST)
    seed: int = argument(0, "Another seed gives other questions, the same seed the same ones.", low=0, high=2**31 - 1)
    set_name: str = argument(SET_NAME, "Name of the question set that keeps them.")

    def parts(self) -> Mapping[str, float]:
        """Return the only part."""
        return {PART: self.number / 200}

    def run(self, target: JobTarget, run: RunContext) -> dict[str, Any]:
        """Make the questions, and return the report."""
        return keep_questions(
            knowledge_base=target.knowledge_base, number=self.number, seed=self.seed, name=self.set_name, run=run,
            release=target.release,
        )  # fmt: skip
