"""The rows of the pipelines that expand the question: PRF, HyDE, RAR, AGR and KAR."""

from __future__ import annotations

from typing import Any

from grasp_site.pipelines.common import EXPLAIN, RETRIEVE_EXPANDED, TEXT_LISTS

TITLES = {"text": "Document text", **TEXT_LISTS}

PIPELINES: dict[str, dict[str, Any]] = {
    "kar": {
        "TITLE": "KAR",
        "DESCRIPTION": "Adds what the graph says of the question's entities, rewritten by a language model.",
        "BACKEND": "search.pipelines.kar.search",
        "STAGES_CLASS": "search.pipelines.kar.KarStages",
        "STAGES": {
            "entities": {"BACKEND": "search.stages.expand.entities.ParseEntities"},
            "documents": {"BACKEND": "search.stages.expand.entities.RetrieveEntities"},
            # Without the graph: `relations=none`. Without document-based filtering: `relations.by=name`.
            "relations": {
                "VARIANTS": {"graph": {"BACKEND": "search.stages.expand.relations.RelateDocuments"}, "none": None},
                "DEFAULT": "graph",
            },
            "expand": {"BACKEND": "search.stages.expand.triples.ExpandByTriples"},
            "retrieve": RETRIEVE_EXPANDED,
            "explain": {"BACKEND": "search.stages.explain_paths.ExplainPaths"},
        },
        "TITLES": TITLES,
    },
    "prf": {
        "TITLE": "PRF",
        "DESCRIPTION": "Appends the first documents found to the question and searches again.",
        "BACKEND": "search.pipelines.expansion.with_feedback",
        "STAGES_CLASS": "search.pipelines.expansion.FeedbackStages",
        "STAGES": {
            "first": RETRIEVE_EXPANDED,
            "expand": {"BACKEND": "search.stages.expand.feedback.AppendDocuments"},
            "retrieve": RETRIEVE_EXPANDED,
            "explain": EXPLAIN,
        },
        "TITLES": TITLES,
    },
    "hyde": {
        "TITLE": "HyDE",
        "DESCRIPTION": "Lets a language model write documents that would answer, and searches for these.",
        "BACKEND": "search.pipelines.expansion.hyde",
        "STAGES_CLASS": "search.pipelines.expansion.HydeStages",
        "STAGES": {
            "expand": {"BACKEND": "search.stages.expand.write.WriteDocuments"},
            "retrieve": RETRIEVE_EXPANDED,
            "explain": EXPLAIN,
        },
        "TITLES": TITLES,
    },
    "rar": {
        "TITLE": "RAR",
        "DESCRIPTION": "As HyDE, but the language model sees the first documents found.",
        "BACKEND": "search.pipelines.expansion.with_feedback",
        "STAGES_CLASS": "search.pipelines.expansion.FeedbackStages",
        "STAGES": {
            "first": RETRIEVE_EXPANDED,
            "expand": {"BACKEND": "search.stages.expand.write.WriteDocuments"},
            "retrieve": RETRIEVE_EXPANDED,
            "explain": EXPLAIN,
        },
        "TITLES": TITLES,
    },
    "agr": {
        "TITLE": "AGR",
        "DESCRIPTION": "Lets a language model analyse the question, write documents and refine them before the search.",
        "BACKEND": "search.pipelines.expansion.agr",
        "STAGES_CLASS": "search.pipelines.expansion.AgrStages",
        "STAGES": {
            "analyse": {"BACKEND": "search.stages.expand.refine.Analyse"},
            "draft": {"BACKEND": "search.stages.expand.refine.RefinedDraft"},
            "first": RETRIEVE_EXPANDED,
            "generate": {"BACKEND": "search.stages.expand.refine.Generate"},
            "refine": {"BACKEND": "search.stages.expand.refine.Refine"},
            "retrieve": RETRIEVE_EXPANDED,
            "explain": EXPLAIN,
        },
        "TITLES": TITLES,
    },
}
