"""Questions with answers made of a knowledge base alone (docs/synthesised-questions.md)."""

from training.data.synthesis.stream import KIND, PART, synthesise, with_plans
from training.data.synthesis.tools import SynthesisTools

__all__ = ["KIND", "PART", "SynthesisTools", "synthesise", "with_plans"]
