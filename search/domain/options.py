"""Options of a stage: a default, a sentence, and bounds, so that every door can show and check them."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any


def option(
    default: Any, help: str, *, low: float | None = None, high: float | None = None, choices: Sequence[str] = ()
) -> Any:
    """Declare a field of a stage's dataclass as an option.

    Fields declared this way become keys of the pipeline's `settings_schema`, as `<stage>.<field>`. The type is that of
    the default: bool, int, float, str, or a tuple of numbers. `low` and `high` are inclusive.
    """
    metadata = {"help": help, "low": low, "high": high, "choices": tuple(choices)}
    return dataclasses.field(default=default, metadata=metadata)
