"""The groups in which the API's description shows the calls, in this order."""

from __future__ import annotations

SEARCHES = "Searches"
PLANS = "Plans and pipelines"
KNOWLEDGE_BASES = "Knowledge bases"
STATE = "State of the site"
