"""Loads, renders and fingerprints the files of `prompts/`."""

from search.prompts.briefing import Briefing
from search.prompts.files import PromptFault, PromptFiles
from search.prompts.plan import PlanPrompts

__all__ = ["Briefing", "PlanPrompts", "PromptFault", "PromptFiles"]
