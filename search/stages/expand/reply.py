"""Reads the documents that a language model writes for a question, also those of a model that cannot stop."""

from __future__ import annotations

import re

from search.domain.model_reply import LONGEST_REPLY
from search.language.words import words
from search.prompts.reading import Reader, Unusable, plain_text

REPEATED_WORDS = 8
"""A text ends where as many words follow each other as they did before: models that cannot stop write in circles."""
QUESTION = "question"
"""The word before the question in prompts, which models repeat with it."""
_SENTENCES = re.compile(r"(?<=[.!?;])\s+")
_WORD = re.compile(r"\S+")


def document_for(question: str) -> Reader[str]:
    """Return a reader of a written document. An answer without a word that the question lacks cannot be used."""
    asked = {*words(question), QUESTION}

    def read(text: str) -> str:
        answer = without_repetition(plain_text(text[:LONGEST_REPLY]))
        if not answer:
            raise Unusable("The answer is empty.")
        if asked.issuperset(words(answer)):
            raise Unusable("The answer only repeats the question.")
        return answer

    return read


def without_repetition(text: str) -> str:
    """Return a text with each sentence once, up to the place from which it repeats itself word by word."""
    seen: set[tuple[str, ...]] = set()
    lines = []
    for line in text.splitlines():
        kept = [sentence for sentence in _SENTENCES.split(line.strip()) if _is_new(sentence, seen)]
        if kept:
            lines.append(" ".join(kept))
    joined = "\n".join(lines)
    return joined[: _circle(joined)].rstrip()


def _is_new(sentence: str, seen: set[tuple[str, ...]]) -> bool:
    said = tuple(words(sentence))
    if said in seen or not sentence:
        return False
    seen.add(said)
    return True


def _circle(text: str) -> int:
    """Return the position at which `REPEATED_WORDS` words begin that the text has had before, else its length."""
    matches = list(_WORD.finditer(text))
    said = [match.group().casefold() for match in matches]
    seen: set[tuple[str, ...]] = set()
    for at in range(len(said) - REPEATED_WORDS + 1):
        window = tuple(said[at : at + REPEATED_WORDS])
        if window in seen:
            return matches[at].start()
        seen.add(window)
    return len(text)
