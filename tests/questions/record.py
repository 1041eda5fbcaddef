"""Records what the tests of questions need: `python -m tests.questions.record [--failures]`.

The vectors of all texts that planning the questions compares; with `--failures` also which questions the planner fails
on. The questions of people have to be beside the repository (README.md).
"""

from __future__ import annotations

import os
import sys
import tempfile
from argparse import ArgumentParser
from pathlib import Path

import django

from tests.questions import asked
from tests.questions.recorded import FILE, Recorder


def main() -> None:
    """Plan all questions, and write the vectors of what the encoder was asked."""
    options = ArgumentParser(prog="python -m tests.questions.record", description=__doc__)
    options.add_argument("--failures", action="store_true", help="write known_failures.toml, too")
    given = options.parse_args()
    if not asked.ASKED.is_dir():
        sys.exit(f"The questions of people are missing: {asked.ASKED}")
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "grasp_site.settings")
    django.setup()
    from search.neural.encoders import SentenceEncoder
    from tests.questions.bases import Base
    from tests.questions.expected import wrong

    recorder = Recorder(lambda: SentenceEncoder(dtype="float32", device="cpu"))
    with tempfile.TemporaryDirectory() as folder:
        bases = {name: Base.of(name, Path(folder) / name, recorder) for name in asked.BASES}
        failing = [one.name for one in asked.everything() if wrong(bases[one.base], one)]
    recorder.write()
    if given.failures:
        asked.write_failures(failing)
    size = FILE.stat().st_size / 1e6
    sys.stdout.write(f"{len(recorder.noted):,} vectors, {size:.2f} MB; the planner fails on {len(failing)}\n")


if __name__ == "__main__":
    main()
