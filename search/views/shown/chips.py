"""The parts of the form that edits a plan."""

from __future__ import annotations

from dataclasses import dataclass

from search.domain.plan.parts import MAX_TEXT


@dataclass(frozen=True, slots=True)
class ChipChoice:
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
    types: tuple[ChipChoice, ...] = ()
    relations: tuple[ChipChoice, ...] = ()
    hidden: tuple[tuple[str, str], ...] = ()
    ids: str = "[]"
    inner: bool = False
    tied: tuple[str, ...] = ()
    looked: EntityLookup | None = None
    faults: tuple[str, ...] = ()
    more: str = ""
    """The conditions on the edge of a hop, in words."""
    loose: bool = False
    """Whether a hop leads to a loose end, so that it can be turned into an exclusion."""
    compared: bool = False
    """Whether an anchor is joined with the target by a comparison alone."""


@dataclass(frozen=True, slots=True)
class FilterChip:
    """A condition on a field; `second` is the upper end of `between`."""

    at: str
    index: int
    vars: tuple[ChipChoice, ...]
    fields: tuple[ChipChoice, ...]
    operators: tuple[ChipChoice, ...]
    var: str
    kind: str
    op: str
    value: str
    second: str = ""
    compares: tuple[ChipChoice, ...] = ()
    """What the value may be: one that is typed in, or a field of another node; empty if there is no other node."""
    compared: bool = False
    """Whether the value is a field of another node."""
    faults: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ExclusionChip:
    """What must not be, in words. One of a single hop from the plan also has fields: `relations` is not empty then.

    `name` is the text of its entity; without one anything of that type is excluded.
    """

    index: int
    text: str
    at: str = ""
    relations: tuple[ChipChoice, ...] = ()
    types: tuple[ChipChoice, ...] = ()
    name: str = ""
    faults: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class OrderChip:
    """The order: what is compared (`by`), which comes first, and how many places are kept; what is asked."""

    by: tuple[ChipChoice, ...]
    directions: tuple[ChipChoice, ...]
    limit: str
    asks: tuple[ChipChoice, ...]
    faults: tuple[str, ...] = ()
    ask_faults: tuple[str, ...] = ()
    """Why what is asked for cannot be computed."""

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
    risks: tuple[ChipChoice, ...]
    risk_words: str
    mode: str
    faults: tuple[str, ...]
    json: str
    exclude: tuple[ExclusionChip, ...]
    exclude_json: str
    order: OrderChip
    compares: bool = False
    """Whether the target has a number or a date that can be compared with that of another entity."""
    fault_count: int = 0
    longest: int = MAX_TEXT
