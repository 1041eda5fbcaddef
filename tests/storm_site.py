"""Settings of a site whose jobs are quick: vectors that mean nothing, a short lease, and a Neo4j only for copies.

The workers of `python -m benchmarks jobs` have these settings, and so has that process itself.
"""

import os

from tests.job_site import *  # noqa: F403
from tests.job_site import GRASP_TOOLS as SITE_TOOLS

GRASP_ENCODER = "hash@1"
GRASP_ENCODERS = {GRASP_ENCODER: {}}
GRASP_TOOLS = {**SITE_TOOLS, "encoder": {"BACKEND": "tests.fakes.HashEncoder", "OPTIONS": {"dimensions": 64}}}
# Searches keep the graph in files, so that a copy in Neo4j changes no outcome.
NEO4J_URL = os.environ.get("STORM_NEO4J", "")
