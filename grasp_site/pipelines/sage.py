"""The rows of SPARK and SAGE: a retrieval plan written in one call, and its results expanded over edges."""

from __future__ import annotations

from typing import Any

from grasp_site.pipelines.common import EXPLAIN, TEXT_LISTS

_PLANNED: dict[str, Any] = {
    "link": {"BACKEND": "search.stages.link.Link"},
    "traverse": {"BACKEND": "search.stages.traverse.Traverse"},
    "rescore": {"BACKEND": "search.stages.rescore.Rescore"},
    "retrieve": {"BACKEND": "search.stages.retrieve_linear.Linear"},
}
_PLAN: dict[str, Any] = {"BACKEND": "search.stages.plan.spark.SparkPlanner"}
_SHOWN: dict[str, Any] = {"check": {"BACKEND": "search.stages.check.Check"}, "explain": EXPLAIN}

PIPELINES: dict[str, dict[str, Any]] = {
    "spark": {
        "TITLE": "SPARK",
        "DESCRIPTION": "One call of a language model writes the retrieval plan; if it finds nothing, words and "
        "vectors answer.",
        "BACKEND": "search.pipelines.spark.search",
        "OPTIONS": {"graph_share": 0.6},
        "STAGES_CLASS": "search.pipelines.spark.SparkStages",
        "STAGES": {"plan": _PLAN, **_PLANNED, **_SHOWN},
        "TITLES": {"graph": "Retrieval plan", "text": "Document text", **TEXT_LISTS},
    },
    "sage": {
        "TITLE": "SAGE",
        "DESCRIPTION": "Adds to SPARK's first results their best neighbours, over relations and by likeness.",
        "BACKEND": "search.pipelines.sage.search",
        "OPTIONS": {"graph_share": 0.6},
        "STAGES_CLASS": "search.pipelines.sage.SageStages",
        "STAGES": {
            # Without a plan the seeds are those of words and vectors, as the paper has it for documents and tables.
            "plan": {"VARIANTS": {"spark": _PLAN, "none": None}, "DEFAULT": "spark"},
            **_PLANNED,
            "expand": {"BACKEND": "search.stages.expand_neighbours.ExpandNeighbours"},
            "unite": {"BACKEND": "search.stages.unite.Unite"},
            **_SHOWN,
        },
        "TITLES": {
            "graph": "Retrieval plan",
            "text": "Document text",
            "seeds": "Seeds",
            "neighbours": "Neighbours",
            "rest": "Behind the seeds",
            **TEXT_LISTS,
        },
    },
}
