"""The rows of AF-Retriever and FocusedRetriever."""

from __future__ import annotations

from typing import Any

JUDGES: dict[str, Any] = {
    "VARIANTS": {
        "none": None,
        "pointwise": {"BACKEND": "search.stages.judge.JudgePointwise"},
        "listwise": {"BACKEND": "search.stages.judge.JudgeListwise"},
        "pairwise": {"BACKEND": "search.stages.judge.JudgePairwise"},
    },
    "DEFAULT": "pairwise",
}
COMMON: dict[str, Any] = {
    "target": {"BACKEND": "search.stages.target_type.TargetType"},
    "plan": {"BACKEND": "search.stages.plan.Planner"},
    "ground": {"BACKEND": "search.stages.ground.Ground"},
    "fill": {"BACKEND": "search.stages.fill.Fill"},
    "join": {"BACKEND": "search.stages.join.Join"},
    "judge": JUDGES,
    "explain": {"BACKEND": "search.stages.explain_grounded.ExplainGrounded"},
}
TITLES = {"grounded": "Grounded triplets", "filled": "Documents", "judged": "Judge", "joined": "Joined list"}

PIPELINES: dict[str, dict[str, Any]] = {
    "af_retriever": {
        "TITLE": "AF-Retriever",
        "DESCRIPTION": "Writes the question as triplets, follows them with more and more entities for each name, "
        "fills the list up by vectors, and lets a language model judge the first results.",
        "BACKEND": "search.pipelines.af_retriever.search",
        "STAGES_CLASS": "search.pipelines.af_retriever.AutofocusStages",
        "STAGES": {
            "triplets": {"BACKEND": "search.stages.triplets.Triplets"},
            "candidates": {"BACKEND": "search.stages.candidates.Candidates"},
            "rank": {"BACKEND": "search.stages.rank_grounded.RankGrounded"},
            **COMMON,
        },
        "TITLES": TITLES,
    },
    "focused": {
        "TITLE": "FocusedRetriever",
        "DESCRIPTION": "The predecessor of AF-Retriever: the same parts in another order, strict by default, with "
        "relations in all vectors.",
        "BACKEND": "search.pipelines.focused.search",
        "STAGES_CLASS": "search.pipelines.focused.FocusedStages",
        "STAGES": {
            "triplets": {
                "BACKEND": "search.stages.triplets.Triplets",
                "OPTIONS": {"nodes": "strict", "edges": "strict", "properties": "strict", "listed": True},
            },
            # The paper allows 1,500,000 candidates, that is, all nodes; 10,000 are reached in the eighth round.
            "candidates": {
                "BACKEND": "search.stages.candidates.Candidates",
                "OPTIONS": {"l_max": 10_000, "kind": "document+relations"},
            },
            "rank": {
                "BACKEND": "search.stages.rank_grounded.RankGrounded",
                "OPTIONS": {"keep": 12, "kind": "document+relations"},
            },
            **COMMON,
        },
        "TITLES": TITLES,
    },
}
