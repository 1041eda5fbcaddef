"""Settings of a site with the films and one pipeline of `tests.search.small`, for processes that tests start.

Nothing is imported from there, because models cannot be loaded before the settings. No model library is needed.
"""

from grasp_site.settings import *  # noqa: F403

SMALL = "tests.search.small"
STAGES = {
    "plan": "MakePlan", "link": "LinkAnchors", "traverse": "Walk", "rescore": "Merge", "retrieve": "Find",
    "fuse": "Fuse", "check": "Hold", "explain": "Show",
}  # fmt: skip
GRASP_TOOLS = {"nodes": {"BACKEND": f"{SMALL}.node_tool"}, "adjacency": {"BACKEND": f"{SMALL}.no_tool"}}
GRASP_PIPELINES = {
    "path": {
        "TITLE": "Path",
        "DESCRIPTION": "Follows the graph.",
        "BACKEND": "search.pipelines.grasp.search",
        "STAGES_CLASS": "search.pipelines.grasp.Stages",
        "STAGES": {stage: {"BACKEND": f"{SMALL}.{name}"} for stage, name in STAGES.items()},
    }
}
GRASP_DEFAULT_PIPELINE = "path"
GRASP_WARM_UP: dict[str, list[str]] = {"search": [], "jobs": [], "gpu": []}
