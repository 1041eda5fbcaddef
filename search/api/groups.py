"""The groups of operations in the API's description, in the order in which it shows them."""

from __future__ import annotations

SEARCHES = "Searches"
PLANS = "Plans and pipelines"
KNOWLEDGE_BASES = "Knowledge bases"
UPLOADS = "Uploads"
JOBS = "Jobs"
STATE = "State of the site"
