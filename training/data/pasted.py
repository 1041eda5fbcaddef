"""Questions as pasted text. Each line has a question and the ids of its answers, separated by tabs."""

from __future__ import annotations

import hashlib
import zlib
from pathlib import Path

from training.data.examples import Example, numbered_lines, usable
from training.data.hashes import normalised

ID_DIGITS = 12


def read_pasted(path: Path) -> list[Example]:
    """Return the questions of a text file with lines of `question TAB answer TAB answer …`.

    The id of a question is made from its words, so that it stays the same in later versions. Raises BadQuestions with
    every line that cannot be used.
    """
    faults: list[str] = []
    examples: dict[str, Example] = {}
    lines: dict[str, int] = {}
    try:
        for number, line in numbered_lines(path):
            text, *answers = (part.strip() for part in line.strip("\r\n").split("\t"))
            answers = list(dict.fromkeys(answer for answer in answers if answer))
            if not text or not answers:
                faults.append(f"{path.name}:{number}: a line is a question, a tab, and the ids of its answers.")
                continue
            name = made_id(text)
            if name in lines:
                faults.append(f"{path.name}:{number}: the question of line {lines[name]} again; join their answers.")
            lines.setdefault(name, number)
            examples[name] = Example(name, text, tuple(answers))
    except (OSError, EOFError, zlib.error) as error:
        faults.append(f"{path}: cannot be read as UTF-8 text, plain or gzip: {error}")
    return usable(examples.values(), faults, f"{path.name} has no question.")


def made_id(text: str) -> str:
    """Return an id made from the words of a question: the same for the same words."""
    said = normalised(text) or text
    return hashlib.blake2b(said.encode("utf-8", "surrogatepass"), digest_size=ID_DIGITS // 2).hexdigest()
