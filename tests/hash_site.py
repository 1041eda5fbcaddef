"""Settings of a site whose vectors mean nothing, for processes that tests start: no model is loaded there."""

from grasp_site.settings import *  # noqa: F403
from grasp_site.settings import GRASP_TOOLS as SITE_TOOLS

GRASP_TOOLS = {**SITE_TOOLS, "encoder": {"BACKEND": "tests.fakes.HashEncoder", "OPTIONS": {"dimensions": 16}}}
