"""What is counted in the parts of learning, tuning and judging (`Kind.units`)."""

from __future__ import annotations

from collections.abc import Mapping

from training.data.synthesis import PART

QUESTIONS = "questions"
ASKING: Mapping[str, str] = {"": QUESTIONS}
"""Jobs that only ask or make questions, a part for each pipeline."""
LEARNING: Mapping[str, str] = {
    PART: QUESTIONS, "plans": QUESTIONS, "searches": QUESTIONS, "questions": QUESTIONS, "learning": "steps",
    "synthesised questions": "steps", "folds": "passes", "all questions": "passes", "weights": "settings",
    "measuring": "",
}  # fmt: skip
