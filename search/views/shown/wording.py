"""The words that pages use for risk levels and sources of plans."""

from __future__ import annotations

from collections.abc import Mapping

RISK_WORDINGS: Mapping[str, str] = {
    "no_trade": "We do not trust the graph here; only texts count.",
    "weak": "We are unsure of the plan; paths count little.",
    "normal": "The plan is plausible; paths count as usual.",
    "aggressive": "We are sure of the plan; paths come first.",
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
