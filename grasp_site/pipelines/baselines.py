"""The rows of the baselines: words, vectors, both, fields, and PageRank."""

from __future__ import annotations

from typing import Any

from grasp_site.pipelines.common import EXPLAIN, TEXT_LISTS

PIPELINES: dict[str, dict[str, Any]] = {
    "bm25": {
        "TITLE": "BM25",
        "DESCRIPTION": "Ranks documents by the words they share with the question.",
        "BACKEND": "search.pipelines.baselines.single",
        "STAGES_CLASS": "search.pipelines.baselines.SingleStages",
        "STAGES": {"retrieve": {"BACKEND": "search.stages.retrieve.Bm25"}, "explain": EXPLAIN},
        "TITLES": {"text": "Document text"},
    },
    "vss": {
        "TITLE": "Vectors",
        "DESCRIPTION": "Ranks documents by the likeness of their vector to the question's.",
        "BACKEND": "search.pipelines.baselines.single",
        "STAGES_CLASS": "search.pipelines.baselines.SingleStages",
        "STAGES": {"retrieve": {"BACKEND": "search.stages.retrieve.Dense"}, "explain": EXPLAIN},
        "TITLES": {"text": "Document text", **TEXT_LISTS},
    },
    "multi_vss": {
        "TITLE": "Chunk vectors",
        "DESCRIPTION": "Ranks documents by the likeness of their chunks' vectors to the question's.",
        "BACKEND": "search.pipelines.baselines.single",
        "STAGES_CLASS": "search.pipelines.baselines.SingleStages",
        "STAGES": {"retrieve": {"BACKEND": "search.stages.retrieve_chunks.Chunks"}, "explain": EXPLAIN},
        "TITLES": {"text": "Document text", **TEXT_LISTS},
    },
    "hybrid": {
        "TITLE": "Words and vectors",
        "DESCRIPTION": "Fuses BM25 and vectors by reciprocal ranks, without the graph.",
        "BACKEND": "search.pipelines.baselines.hybrid",
        "STAGES_CLASS": "search.pipelines.baselines.HybridStages",
        "STAGES": {
            "bm25": {"BACKEND": "search.stages.retrieve.Bm25"},
            "vss": {"BACKEND": "search.stages.retrieve.Dense"},
            "fuse": {"BACKEND": "search.stages.fuse.Merge"},
            "explain": EXPLAIN,
        },
        "TITLES": TEXT_LISTS,
    },
    "mfar": {
        "TITLE": "Fields",
        "DESCRIPTION": "Adds up what every field says, by words and by meaning, weighed by the question (mFAR).",
        "BACKEND": "search.pipelines.baselines.single",
        "STAGES_CLASS": "search.pipelines.baselines.SingleStages",
        "STAGES": {"retrieve": {"BACKEND": "search.stages.retrieve_fields.Fields"}, "explain": EXPLAIN},
        "TITLES": {"text": "Fields", "pagerank": "PageRank"},
    },
    "ppr": {
        "TITLE": "PageRank",
        "DESCRIPTION": "Spreads weight over the graph from what the question names, and fuses it with text retrieval.",
        "BACKEND": "search.pipelines.ppr.search",
        "STAGES_CLASS": "search.pipelines.ppr.PprStages",
        "STAGES": {
            "pagerank": {"BACKEND": "search.stages.pagerank.PageRank"},
            "retrieve": {"BACKEND": "search.stages.retrieve.Hybrid"},
            # PageRank treats all relations alike, so its order is less reliable than a plan's: the text weighs more.
            "fuse": {
                "BACKEND": "search.stages.fuse.Fuse",
                "OPTIONS": {"bucket_weights": [1.2, 1.0, 0.8, 0.5, 0.3]},
            },
            "explain": {"BACKEND": "search.stages.explain_walks.ExplainWalks"},
        },
        "TITLES": {"pagerank": "PageRank", "text": "Document text", **TEXT_LISTS},
    },
}
