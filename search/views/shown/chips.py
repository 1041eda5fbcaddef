"""The parts of the form that edits a plan."""

from __future__ import annotations

from dataclasses import dataclass

from search.domain.plan.parts import MAX_TEXT


@dataclass(frozen=True, slots=True)
class Choice:
    """One option of a list."""

    value: str
    label: str
    chosen: bool = False


@dataclass(frozen=True, slots=True)
class FoundEntity:
    """An entity that an anchor may be tied to; `action` is the button's value that ties it."""

    name: str
    type: str
    action: str


@dataclass(frozen=True, slots=True)
class EntityLookup:
    """The entities found for the text of one anchor."""

    index: int
    found: tuple[FoundEntity, ...]


@dataclass(frozen=True, slots=True)
class Chip:
    """One chip on a line of the walk: an anchor, a hop, a node between, the target, or a variable of another line.

    `at` is its JSON pointer and `index` its position in the plan's list. `types` and `relations` are the choices.
    """

    kind: str
    at: str
    var: str = ""
    index: int = 0
    text: str = ""
    types: tuple[Choice, ...] = ()
    relations: tuple[Choice, ...] = ()
    hidden: tuple[tuple[str, str], ...] = ()
    ids: str = "[]"
    tied: tuple[str, ...] = ()
    looked: EntityLookup | None = None
    faults: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FilterChip:
    """A condition on a field; `second` is the upper end of `between`."""

    at: str
    index: int
    vars: tuple[Choice, ...]
    fields: tuple[Choice, ...]
    operators: tuple[Choice, ...]
    var: str
    kind: str
    op: str
    value: str
    second: str = ""
    compared: str = ""
    """JSON of the field of another variable that the value is, or empty."""
    faults: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ExclusionChip:
    """What must not be, in words."""

    index: int
    text: str
    faults: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class OrderChip:
    """The order: what is compared (`by`), which comes first, and how many places are kept; what is asked."""

    by: tuple[Choice, ...]
    directions: tuple[Choice, ...]
    limit: str
    asks: tuple[Choice, ...]
    faults: tuple[str, ...] = ()

    @property
    def orders(self) -> bool:
        """Whether there is an order."""
        return any(choice.chosen and choice.value for choice in self.by)


@dataclass(frozen=True, slots=True)
class Editor:
    """All values of the form; `longest` is the largest number of characters of each of its texts."""

    lines: tuple[tuple[Chip, ...], ...]
    target: Chip
    residual: str
    filters: tuple[FilterChip, ...]
    risks: tuple[Choice, ...]
    risk_words: str
    mode: str
    faults: tuple[str, ...]
    json: str
    exclude: tuple[ExclusionChip, ...]
    exclude_json: str
    order: OrderChip
    fault_count: int = 0
    longest: int = MAX_TEXT
