"""Reading of a question: the cues in it, by the data files of its language.

read_cues("the three newest lamps that cost less than 20 euros", "en")
→ Cues(language="en", superlatives=(Superlative(start=4, end=16, word="new", …),), quantities=(Quantity(…),))
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import date
from typing import Protocol, TypeVar

from search.language.accents import spelled
from search.language.cues import Cues, Span
from search.language.languages import language
from search.language.quantities import quantities
from search.language.reading.asking import asking_reader
from search.language.reading.comparisons import comparison_reader
from search.language.reading.conditions import condition_reader
from search.language.reading.dates import date_reader
from search.language.reading.fields import field_reader
from search.language.reading.negation import negation_reader
from search.language.reading.numbers import number_reader
from search.language.reading.superlatives import superlative_reader
from search.language.tokens import tokens

MOST_CHARACTERS_READ = 10_000
"""Number of characters at the start of a text in which cues are looked for."""


class _Stretch(Protocol):
    @property
    def start(self) -> int: ...
    @property
    def end(self) -> int: ...


_Cue = TypeVar("_Cue", bound=_Stretch)


def read_cues(text: str, code: str = "en", today: date | None = None) -> Cues:
    """Return the cues of a text in a language (`en`, `pt-BR`).

    No two cues share words, except that a turning word may stand in the scope of another cue, and condition words in
    any. Where two could be read,
    the first of dates, superlatives, asking words, quantities, comparisons and turnings wins. `today` is the day from
    which relative times such as *last year* are seen; by default the current day.
    """
    lang = language(code)
    text = text[:MOST_CHARACTERS_READ]
    said = spelled(tokens(text), lang.code)
    dates = date_reader(lang.code).read(text, said, today or date.today())
    superlatives = superlative_reader(lang.code).read(said, spans(dates))
    asking = asking_reader(lang.code).read(said, spans(superlatives)) if said else None
    held = spans([*dates, *superlatives, *([asking] if asking else [])])
    limits = {float(superlative.limit) for superlative in superlatives if superlative.limit > 1}
    # In *les trois films les plus récents* the number is the limit of the order.
    numbers = [q for q in outside(quantities(text, lang.code), held) if not (q.op == "=" and q.low in limits)]
    numbers = number_reader(lang.code).read(said, numbers)
    comparisons = comparison_reader(lang.code).read(said, spans([*dates, *superlatives, *numbers]))
    turnings = negation_reader(lang.code).read(said, spans([*dates, *numbers, *superlatives, *comparisons]))
    return Cues(
        language=lang.code,
        whole=lang.whole,
        turnings=tuple(turnings),
        superlatives=tuple(superlatives),
        comparisons=tuple(comparisons),
        quantities=tuple(numbers),
        dates=tuple(dates),
        asking=asking,
        field=field_reader(lang.code).read(said) if said and asking is None and not superlatives else None,
        conditions=tuple(condition_reader(lang.code).read(said)),
    )


def spans(cues: Iterable[_Stretch]) -> list[Span]:
    """Return the stretches of cues in the order of the text."""
    return sorted((cue.start, cue.end) for cue in cues)


def outside(cues: Sequence[_Cue], held: Sequence[Span]) -> list[_Cue]:
    """Return the cues that share no character with the stretches `held`; both are in the order of the text."""
    kept: list[_Cue] = []
    waiting = iter(held)
    hold = next(waiting, None)
    for cue in cues:
        while hold is not None and hold[1] <= cue.start:
            hold = next(waiting, None)
        if hold is None or cue.end <= hold[0]:
            kept.append(cue)
    return kept
