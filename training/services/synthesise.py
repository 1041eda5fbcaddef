"""synthesise: make questions with answers of a knowledge base, for a file, a question set, or a training."""

from __future__ import annotations

import gzip
import os
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, cast

import orjson

from search import wiring
from search.domain.run_context import UNOBSERVED, RunContext
from search.models import Release
from training.data.examples import BadQuestions, Example
from training.data.hashes import question_hash
from training.data.synthesis import KIND, synthesise, with_plans
from training.services.find_release import find_release
from training.services.question_sets import name_of, register_questions

NUMBER = 4_000
"""Questions that are made where no number is given."""
MOST = 1_000_000
SET_NAME = "synthesised"
"""Name of the question set that keeps synthesised questions, unless another is given."""


@dataclass(frozen=True)
class SynthesisedQuestions:
    """Questions made of a release with one seed."""

    examples: Sequence[Example]
    seed: int

    def described(self) -> dict[str, Any] | None:
        """Return number, seed and numbers by kind, for reports, model cards and artifacts; None without questions."""
        return described(self.examples, self.seed) if self.examples else None

    def hashes(self) -> list[str]:
        """Return the sorted hashes of the questions."""
        return sorted(map(question_hash, self.examples))


def described(examples: Iterable[Example], seed: int) -> dict[str, Any]:
    """Return what is told of synthesised questions: number, seed, and the mixture, the numbers by kind."""
    kinds = Counter(example.slices[KIND] for example in examples)
    return {"number": kinds.total(), "seed": seed, "kinds": dict(sorted(kinds.items()))}


def synthesised_questions(
    release: Release, number: int, seed: int, run: RunContext = UNOBSERVED, *, bare: bool = False
) -> SynthesisedQuestions:  # fmt: skip
    """Return questions made of a release, with `bare` some in the bare words of texts and names too.

    Raises BadQuestions when it gives none, RunCancelled, StageError.
    """
    examples = list(synthesise(wiring.tools(release), number, seed, run, bare=bare)) if number else []
    if number and not examples:
        raise BadQuestions([nothing_from(release)])
    return SynthesisedQuestions(examples, seed)


def nothing_from(release: Release) -> str:
    """Return why no question can be made of a release."""
    return (
        f"No question can be made of {release.name}: it takes nodes of a type that may be an answer, with an edge to a "
        "named node, a text that tells them apart, or a field with a number, a date or a shared keyword."
    )


def write_questions(
    *, knowledge_base: str, path: Path, number: int = NUMBER, seed: int = 0, run: RunContext = UNOBSERVED,
    release: str = "", conditions: bool = False,
) -> dict[str, Any]:  # fmt: skip
    """Write questions as JSON lines (compressed if the name ends with .gz), and return the report.

    Each line has the plan that its question stands for. With `conditions`, exclusions, orders, comparisons and numbers
    are asked for too.
    They are written one by one, and the file is there only once it is whole. Raises InvalidRequest, BadQuestions when
    the base gives no question, OSError, RunCancelled, StageError.
    """
    of = find_release(knowledge_base, release)
    kinds: Counter[str] = Counter()
    with _replacing(path) as file:
        for example, plan in with_plans(wiring.tools(of), number, seed, run, conditions=conditions):
            kinds[example.slices[KIND]] += 1
            file.write(orjson.dumps(_row(example) | {"plan": plan.to_json()}) + b"\n")
        if not kinds:
            raise BadQuestions([nothing_from(of)])
    return {
        "knowledge_base": knowledge_base, "release": of.name, "output": str(path), "questions": kinds.total(),
        "wanted": number, "seed": seed, "kinds": dict(sorted(kinds.items())),
    }  # fmt: skip


def keep_questions(
    *, knowledge_base: str, number: int = NUMBER, seed: int = 0, name: str = SET_NAME, run: RunContext = UNOBSERVED,
    release: str = "",
) -> dict[str, Any]:  # fmt: skip
    """Keep questions as a version of a question set, and return the report; the same ones are not kept twice.

    Raises as `write_questions` does.
    """
    of = find_release(knowledge_base, release)
    made = synthesised_questions(of, number, seed, run)
    source = f"made of {of.name}, seed {seed}"
    with run.fenced():
        question_set, new = register_questions(
            knowledge_base=knowledge_base, examples=made.examples, name=name, source=source
        )
    return {
        "knowledge_base": knowledge_base, "release": of.name, "question_set": name_of(question_set), "new": new,
        "questions": len(made.examples), "wanted": number, "seed": seed, "kinds": (made.described() or {})["kinds"],
    }  # fmt: skip


def _row(example: Example) -> dict[str, Any]:
    return {"id": example.id, "text": example.text, "answers": list(example.answers), **example.slices}


@contextmanager
def _replacing(path: Path) -> Iterator[IO[bytes]]:
    """Yield a new file that takes the place of `path` when the block ends, and is removed if the block raises."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as raw:
            if path.suffix == ".gz":
                # Without name and time, so that the same questions give the same bytes.
                with gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0) as packed:
                    yield cast(IO[bytes], packed)
            else:
                yield raw
        Path(name).chmod(0o644)
        Path(name).replace(path)
    finally:
        with suppress(FileNotFoundError):
            Path(name).unlink()
