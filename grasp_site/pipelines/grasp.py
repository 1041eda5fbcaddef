"""The rows of the pipelines that plan: GRASP."""

from __future__ import annotations

from typing import Any

from grasp_site.pipelines.common import EXPLAIN, TEXT_LISTS

PIPELINES: dict[str, dict[str, Any]] = {
    "grasp": {
        "TITLE": "GRASP",
        "DESCRIPTION": "Plans paths through the graph, executes them, and fuses what they find with text retrieval.",
        "BACKEND": "search.pipelines.grasp.search",
        # Fraction of the remaining time that the graph's branch may take; after it, the text answers alone.
        "OPTIONS": {"graph_share": 0.6},
        "STAGES_CLASS": "search.pipelines.grasp.Stages",
        "STAGES": {
            "plan": {"BACKEND": "search.stages.plan.JoinedPlanner"},
            "link": {"BACKEND": "search.stages.link.Link"},
            "traverse": {"BACKEND": "search.stages.traverse.Traverse"},
            "recover": {"BACKEND": "search.stages.recover.Recover"},
            "rescore": {"BACKEND": "search.stages.rescore.Rescore"},
            "gloss": {"BACKEND": "search.stages.gloss.Gloss"},
            "retrieve": {
                "VARIANTS": {
                    "hybrid": {"BACKEND": "search.stages.retrieve.Hybrid", "OPTIONS": {"method": "scores"}},
                    "bm25": {"BACKEND": "search.stages.retrieve.Bm25"},
                    "vss": {"BACKEND": "search.stages.retrieve.Dense"},
                    "mfar": {"BACKEND": "search.stages.retrieve_fields.Fields"},
                },
                "DEFAULT": "hybrid",
            },
            "fuse": {"BACKEND": "search.stages.fuse.Fuse"},
            "check": {"BACKEND": "search.stages.check.Check"},
            "rerank": {
                "VARIANTS": {
                    "none": None,
                    "light": {"BACKEND": "search.stages.rank_light.LightRank"},
                    "neural": {"BACKEND": "search.stages.rerank.Rerank"},
                    "light_neural": {"BACKEND": "search.stages.light_then_neural.LightThenNeural"},
                },
                "DEFAULT": "none",
            },
            "explain": EXPLAIN,
        },
        "TITLES": {
            "graph": "Graph paths",
            "text": "Document text",
            "light": "Learned ranker",
            "fused": "Joined list",
            "pagerank": "PageRank",
            "reranker": "Reranker",
            **TEXT_LISTS,
        },
    },
}
