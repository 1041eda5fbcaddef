"""One prompt with all candidates, answered by their order (AF-Retriever, table 1)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from search.asking import ask
from search.domain.model_reply import UnreadableReply, read_object
from search.domain.trace import Limit
from search.prompts.reading import Unusable, plain_text
from search.stages.judge.base import PROMPTS, Judge, JudgeVerdict

_NUMBERS = re.compile(r"[\[(]?\s*\d+(?:\s*[,;>\n]\s*\d+)*\s*[\])]?\.?")
"""Numbers with separators and nothing else."""


@dataclass(frozen=True)
class JudgeListwise(Judge):
    """Orders candidates by one answer; those that it leaves out follow in the order before."""

    together: ClassVar[int] = 0

    def order(self, question: str, texts: Sequence[str], limit: Limit) -> JudgeVerdict:
        """Return the order of the answer; none if it cannot be read."""
        answers = ask(self.language_model, [PROMPTS.list(question, texts)], partial(_order, len(texts)), limit)
        cost = answers.tokens, answers.prompt_fingerprint
        [named] = answers.values
        if named is None:
            return JudgeVerdict(None, (), answers.said, *cost)
        missing = [at for at in range(len(texts)) if at not in named]
        said = f"The judge left out {len(missing)} of {len(texts)} possible answers." if missing else ""
        return JudgeVerdict([*named, *missing], (), said, *cost)


def _order(number: int, text: str) -> list[int]:
    """Return the positions that an answer names, from 0, each once; invented ones are left out. Raises Unusable."""
    try:
        said = read_object(text).get("order")
    except UnreadableReply:
        plain = plain_text(text).strip()
        said = re.findall(r"\d{1,6}", plain) if _NUMBERS.fullmatch(plain) else None
    listed = said if isinstance(said, list) else []
    named = [int(one) for one in listed if isinstance(one, int) or (isinstance(one, str) and one.strip().isdecimal())]
    found = list(dict.fromkeys(one - 1 for one in named if 1 <= one <= number))
    if not found:
        raise Unusable(f"The answer does not order the numbers from 1 to {number}.")
    return found
