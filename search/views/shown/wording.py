"""The words that pages use for risk levels and sources of plans."""

from __future__ import annotations

from collections.abc import Mapping

RISK_WORDINGS: Mapping[str, str] = {
    "no_trade": "The graph is not trusted here: the text decides alone.",
    "weak": "The plan is doubtful: paths count little beside the text.",
    "normal": "The plan is plausible: paths count as much as their number suggests.",
    "aggressive": "The plan is clear: paths go first.",
}

RISK_NAMES: Mapping[str, str] = {"no_trade": "none", "weak": "little", "normal": "normal", "aggressive": "full"}
"""How far the graph is trusted, in one word for each risk level."""

SOURCES: Mapping[str, str] = {
    "schema": "read without AI",
    "llm": "written by a language model",
    "learned": "chosen by the trained planner",
    "user": "given with the question",
    "follow-up": "changed from the plan of the question before",
}
