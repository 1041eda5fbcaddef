"""Cues of a question: the words beside names that conditions of a plan are made of (negation, order, comparison).

Finding cues is the same for every knowledge base: it depends on the language of the question only. What a cue means in
a base (which field, which relation) is decided by the planner, which knows the schema. All offsets are offsets into the
text that was read.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import Literal

from search.domain.plan import Ask, Operator
from search.language.quantities import Quantity

Span = tuple[int, int]
"""Start and end of a stretch of a text; the end is not included."""


@dataclass(frozen=True, slots=True)
class Turning:
    """A word that turns a condition round (*not*, *without*, *except*, *nobody*, *never*), and what it turns.

    `start` and `end` cover the turning word itself; `scope` is the stretch that it turns. In `-free` compounds and
    `un-` adjectives the scope is the rest of the word.
    `kind`: `not` turns a verb, adjective or value; `lack` says that nothing of the kind exists (*without any*,
    *nobody*, *no*, *free of*); `except` takes single things out (*except*, *besides*, *other than*, *but not*).
    """

    start: int
    end: int
    scope: Span
    kind: Literal["not", "lack", "except"]


@dataclass(frozen=True, slots=True)
class Superlative:
    """Words that ask for the first of an order: *heaviest*, *the three newest*, *most cited*, *the biggest range*.

    `start` and `end` cover all its words. `word` is the word of the property in its base form, in lower case (`heavy`,
    `cited`); empty for a bare *most* or *fewest*. `direction` is the order of values that puts what was asked first:
    *lightest* is `asc`, *heaviest* is `desc`. `scale` holds words with which schemas name the property (`weight`,
    `mass`), the usual first; empty if the language files do not know it. `unit` names the dimension of its values
    (`mass`, `money`, `time`, `length`, `volume`, `date`) or is empty. `counted` is the stretch of what is counted
    (*most papers*, *largest number of drugs*); None if a property is compared. A superlative may have both meanings
    (*most cited*); then `counted` covers the word. `limit` is the number of places asked for; 1 without a number, and 0
    where everything is wanted in this order (*sorted by price*, *cheapest first*). `against` holds words for what is
    small where the property is large: the *fastest* has the highest speed, or the least duration.
    """

    start: int
    end: int
    word: str
    direction: Literal["asc", "desc"]
    scale: tuple[str, ...] = ()
    unit: str = ""
    counted: Span | None = None
    limit: int = 1
    against: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Comparison:
    """A comparison with another thing: *cheaper than X*, *founded before X*, *as old as X*, *more papers than X*.

    `start` and `end` cover the comparing words without the thing itself; `reference` is the stretch behind them, which
    may name the thing. `op` compares the value of an answer with that of the thing (*cheaper*: `<`). `scale` and `unit`
    are as in `Superlative`. A comparison with a number is a `Quantity`, not a `Comparison`.
    """

    start: int
    end: int
    op: Operator
    reference: Span
    word: str = ""
    scale: tuple[str, ...] = ()
    unit: str = ""


@dataclass(frozen=True, slots=True)
class DateRange:
    """A date or relative time as a range: *in March 2021*, *before 3 May 2020*, *last year*, *in the last five years*.

    `op` is the comparison; `first` and `last` are the first and last day of what is named, both included. Single years
    are `Quantity` with `year`. `words` are the content words around it, as in `Quantity`.
    """

    start: int
    end: int
    op: Operator
    first: date
    last: date
    words: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ConditionWord:
    """A word of a closed class that limits, counts or computes: an answer that does without it answers something else.

    `kind` says what uses it: `every` (*all*, *each*, *only*) the list of all that is asked for; `both` a plan with both
    names; `either` (*or*) a name of which any is meant; `place` (*second*) nothing, since plans keep the first of an
    order; `other` (*average*, *than*, *same*) whatever expresses the words that it stands in.
    """

    start: int
    end: int
    kind: Literal["every", "both", "either", "place", "other"]


@dataclass(frozen=True, slots=True)
class Asking:
    """The words that say what kind of answer is asked for: *how many*, *number of*, *is there*, *did ... ever*."""

    start: int
    end: int
    ask: Ask


@dataclass(frozen=True, slots=True)
class FieldAsked:
    """Words that ask for a property of a thing and not for things: *how heavy*, *how much … cost*, *when*, *what year*.

    `spans` are the stretches of these words; `scale` and `unit` are as in `Superlative`.
    """

    spans: tuple[Span, ...] = ()
    scale: tuple[str, ...] = ()
    unit: str = ""


@dataclass(frozen=True, slots=True)
class Cues:
    """All cues of a text in the order of the text, and the language that they were read in.

    `language` is its code (`en`). `whole` is False for a language of which only names, numbers and embeddings are read.
    `asking` is None where the question asks *which*, `field` where it asks for things and not for a property of one.
    `conditions` are words that may also stand in other cues.
    """

    language: str
    whole: bool = True
    turnings: tuple[Turning, ...] = ()
    superlatives: tuple[Superlative, ...] = ()
    comparisons: tuple[Comparison, ...] = ()
    quantities: tuple[Quantity, ...] = ()
    dates: tuple[DateRange, ...] = ()
    asking: Asking | None = None
    field: FieldAsked | None = None
    conditions: tuple[ConditionWord, ...] = ()
