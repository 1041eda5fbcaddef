"""Negation, superlatives and what is asked, in the words of a follow-up."""

from __future__ import annotations

import re

from search.language.cues import Cues, Superlative, Turning
from search.language.quantities import quantities

_TURN = re.compile(
    r"(?<!\w)(?P<except>except(?: for| from)?|excluding|but not|other than|besides|apart from|minus)(?!\w)"
    r"|(?<!\w)(?P<lack>without(?: any)?|no|free of|none of)(?!\w)|(?<!\w)(?P<not>not|isn't|aren't|non-|never)(?!\w)",
    re.IGNORECASE,
)
_STOP = re.compile(r"[,;.?!]|(?<!\w)(?:but|and only|only)(?!\w)")
_SCALES: tuple[tuple[str, str, str], ...] = (
    ("cheap", "asc", "price cost fee"), ("expensive", "desc", "price cost fee"), ("dear", "desc", "price cost fee"),
    ("heavy", "desc", "weight mass"), ("light", "asc", "weight mass"),
    ("new", "desc", "year date released published founded approved opened"),
    ("recent", "desc", "year date released published founded approved opened"),
    ("late", "desc", "year date released published founded approved opened"),
    ("old", "asc", "year date released published founded approved opened"),
    ("early", "asc", "year date released published founded approved opened"),
    ("long", "desc", "pages length duration half life"), ("short", "asc", "pages length duration half life"),
    ("best", "desc", "rating score stars"), ("worst", "asc", "rating score stars"),
)  # fmt: skip
_SUPERLATIVE = re.compile(
    r"(?<!\w)(?:(?P<way>most|least)[\s-]+(?P<word>[a-z]+)|(?P<est>[a-z]+est)|(?P<own>best|worst))"
    r"(?:[\s-]+rated)?(?!\w)",
    re.IGNORECASE,
)
_LIMIT = re.compile(r"(?:the|top|first)\s+(?P<number>\d{1,4}|two|three|four|five|six|seven|eight|nine|ten)\s+\Z", re.I)
_NUMBERS = {
    word: at for at, word in enumerate(["two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"], 2)
}


def cues_of(text: str) -> Cues:
    """Return the cues of a text in English."""
    return Cues("en", True, tuple(_turnings(text)), tuple(_superlatives(text)), (), tuple(quantities(text)))


def _turnings(text: str) -> list[Turning]:
    found = []
    for match in _TURN.finditer(text):
        stop = _STOP.search(text, match.end() + 1)
        scope = (match.end(), stop.start() if stop else len(text))
        found.append(Turning(match.start(), match.end(), scope, match.lastgroup))  # type: ignore[arg-type]
    return found


def _superlatives(text: str) -> list[Superlative]:
    found = []
    for match in _SUPERLATIVE.finditer(text):
        if match["est"]:
            root = match["est"].lower().removesuffix("est")
            known = next(
                (s for s in _SCALES if root in (s[0], s[0] + s[0][-1], s[0][:-1] + "i", s[0].rstrip("e"))), None
            )
            if known is None:
                continue
            word, direction, scale = known
        elif match["own"]:
            word, direction, scale = next(s for s in _SCALES if s[0] == match["own"].lower())
        else:
            word = match["word"].lower()
            known = next((s for s in _SCALES if s[0] == word), None)
            direction, scale = (known[1], known[2]) if known else ("desc", "")
            if match["way"].lower() == "least":
                direction = "asc" if direction == "desc" else "desc"
        said = _LIMIT.search(text, 0, match.start())
        limit = 1
        if said:
            limit = int(said["number"]) if said["number"].isdigit() else _NUMBERS[said["number"].lower()]
        counted = match.span("word") if match["word"] and not scale else None
        start = said.start() if said else match.start()
        found.append(
            Superlative(start, match.end(), word, direction, tuple(scale.split()), "", counted, limit)  # type: ignore[arg-type]
        )
    return found
