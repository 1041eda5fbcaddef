"""Records the vectors that the tests of questions need: `python -m tests.questions.record`."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

import django

from tests.questions import asked
from tests.questions.recorded import FILE, Recorder


def main() -> None:
    """Plan all questions with the packaged encoder, by every parser, and write the vectors of what it was asked."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "grasp_site.settings")
    django.setup()
    from search.neural.encoders import SentenceEncoder
    from tests.questions.bases import Base, parsers

    recorder = Recorder(SentenceEncoder(dtype="float32", device="cpu"))
    questions = [*asked.written(), *asked.of_demos(), *asked.of_people()]
    for parser in parsers():
        for name in asked.BASES:
            with tempfile.TemporaryDirectory() as folder:
                base = Base.of(name, Path(folder), recorder, parser)
                for one in questions:
                    if one.base == name:
                        base.best(one.text)
    recorder.write()
    sys.stdout.write(f"{len(recorder.noted):,} vectors, {FILE.stat().st_size / 1e6:.2f} MB\n")


if __name__ == "__main__":
    main()
