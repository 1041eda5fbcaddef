"""Figures that papers publish, from `published.toml`: context of a report, never mixed with what was measured."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

MEASURES = ("H@1", "H@5", "R@20", "MRR")
"""The measures of a published row, in the order of the file."""
SETS: Mapping[str, str] = {"amazon": "STaRK Amazon", "mag": "STaRK MAG", "prime": "STaRK Prime"}
"""The sets of the benchmark by the word that names them."""
_FILE = Path(__file__).with_name("published.toml")


@dataclass(frozen=True, slots=True)
class Published:
    """What a paper publishes about one method and one set: figures in percent by measure, None where it has none."""

    method: str
    questions: str
    paper: str
    table: str
    figures: Mapping[str, float | None]


def published(of_set: str) -> tuple[Published, ...]:
    """Return the published figures about a set of `SETS`, in the order of the file. Raises KeyError for another set."""
    if of_set not in SETS:
        raise KeyError(of_set)
    found = []
    told = _read()
    for table in told["table"]:
        for method, row in table["rows"].items():
            if of_set in row:
                figures = {
                    name: None if value == "-" else float(value)
                    for name, value in zip(MEASURES, row[of_set], strict=True)
                }
                asked = told["questions"][table["questions"]]
                found.append(Published(method, asked, table["paper"], table["number"], figures))
    return tuple(found)


def set_of(knowledge_base: str) -> str:
    """Return the set whose word is in the name of a knowledge base, such as `prime` in `prime-ibd`; else nothing."""
    words = re.split(r"[^a-z0-9]+", knowledge_base.casefold())
    return next((name for name in SETS if name in words), "")


@lru_cache(maxsize=1)
def _read() -> dict[str, Any]:
    return tomllib.loads(_FILE.read_text(encoding="utf-8"))
