"""From what is known of the best meaning of a question to the probability that it is right.

The softmax over the meanings compares them with each other: it knows nothing of words that none of them covers. A
logistic function of a few facts, fitted on the meanings that were tried for questions with known answers, turns the
share of the softmax into a probability (Platt 1999, with several inputs). No weight is negative.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path

from search.domain.logistic import Logistic, log_odds

_FILE = Path(__file__).with_name("calibration.json")
_GUESSED = ("described", "near", "translated", "part", "initials")
_MENDED = ("spelling", "synonym", "abbreviation")

INPUTS = (
    "odds", "margin", "covered", "few left", "few cues left", "said", "sure names", "few mended", "few floats", "found",
    "graph",
)  # fmt: skip
"""The names of the inputs of the logistic function; more of any of them speaks for the meaning."""


@dataclass(frozen=True, slots=True)
class Grounds:
    """The facts that the probability of a question's first plan stands on.

    `share` is its share of the softmax, together with that of meanings that find the same; `rival` the largest share
    of any other. `explained` is the share of the content words that it covers, `left` the number of those that it does
    not, `unbound` the number of words of denial, order and exception that it skips. `unsaid` counts walks that no word
    says, of two relations or from a lone name; `floats` those of one relation. `guessed` and `mended` count names that
    the question does not say as they are stored. `nothing` says that it finds no node, `text` that it leaves all to
    text.
    """

    share: float
    rival: float = 0.0
    explained: float = 1.0
    left: int = 0
    unbound: int = 0
    unsaid: int = 0
    floats: int = 0
    guessed: int = 0
    mended: int = 0
    nothing: bool = False
    text: bool = False

    @classmethod
    def of(
        cls, share: float, rival: float, features: Mapping[str, float], left: int, content: int, *, nothing: bool,
        text: bool,
    ) -> Grounds:  # fmt: skip
        """Return the facts of a meaning: its features, and how many content words it leaves of how many."""
        skipped = sum(features.get(f"skip-{name}", 0.0) for name in ("EXCEPT", "LACK", "MOST", "COUNT"))
        named = {name: sum(features.get(f"rule:name-{how}", 0.0) for how in hows)
                 for name, hows in (("guessed", _GUESSED), ("mended", _MENDED))}  # fmt: skip
        return cls(
            share, rival, 1 - left / max(content, 1), left, int(skipped),
            int(features.get("float-two", 0.0) + features.get("root-unsaid", 0.0)),
            int(features.get("float", 0.0)), int(named["guessed"]), int(named["mended"]), nothing, text,
        )  # fmt: skip

    def inputs(self) -> dict[str, float]:
        """Return the inputs of the logistic function by name."""
        both = self.share + self.rival
        values = (
            log_odds(self.share), log_odds(self.share / both) if both else 0.0, self.explained,
            -float(min(self.left, 4)), -float(min(self.unbound, 2)), -float(min(self.unsaid, 2)),
            -float(min(self.guessed, 2)), -float(min(self.mended, 2)), -float(min(self.floats, 3)),
            0.0 if self.nothing else 1.0, 0.0 if self.text else 1.0,
        )  # fmt: skip
        return dict(zip(INPUTS, values, strict=True))

    def to_json(self) -> dict[str, float]:
        """Return the facts by name."""
        return asdict(self)


@lru_cache(maxsize=1)
def calibration() -> Logistic:
    """Return the logistic function that is kept with the grammar."""
    return Logistic.read(json.loads(_FILE.read_text(encoding="utf-8")), INPUTS)
