"""Parts of rows that several pipelines have in common."""

from __future__ import annotations

from typing import Any

TEXT_LISTS = {"bm25": "Words (BM25)", "vss": "Vectors"}
EXPLAIN: dict[str, Any] = {"BACKEND": "search.stages.explain.Explain"}
RETRIEVE_EXPANDED: dict[str, Any] = {
    "VARIANTS": {
        "vss": {"BACKEND": "search.stages.retrieve.Expanded"},
        "hybrid": {"BACKEND": "search.stages.retrieve.Hybrid"},
        "bm25": {"BACKEND": "search.stages.retrieve.Bm25"},
    },
    "DEFAULT": "vss",
}
"""Retrieval for an expanded question. The papers search by vectors."""
