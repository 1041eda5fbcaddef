"""The words of the field that pages use, each with a plain word and an explanation: the one place that has them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Term:
    """A word of the field: the plain word for it, and one or two sentences that explain it."""

    plain: str
    meaning: str


GLOSSARY: Mapping[str, Term] = {
    "anchor": Term(
        "starting point",
        "An entity that the question names. A plan starts at its anchors.",
    ),
    "artifact": Term(
        "trained part",
        "What a training job made: a file that planners, retrievers or rankers use.",
    ),
    "binding": Term(
        "match of a name",
        "The entity that a name in the question is taken for.",
    ),
    "bucket": Term(
        "size of the graph’s list",
        "Range in which the number of candidates lies. Few candidates mean a precise plan, so the graph’s "
        "list gets more weight; many mean a loose one.",
    ),
    "candidate": Term(
        "possible answer",
        "An entity that may be an answer, before all candidates are put in order.",
    ),
    "condition": Term(
        "requirement",
        "One thing that the question asks of an answer: an entity, a relation or a value.",
    ),
    "fused": Term(
        "put into one list",
        "Several lists of candidates become one: each gives a result w ÷ (k + rank) or w × score, and these "
        "are added up.",
    ),
    "hop": Term(
        "step",
        "One step from an entity to the next over a relation.",
    ),
    "hub": Term(
        "entity with very many relations",
        "Paths over hubs say little, for nearly everything leads to them.",
    ),
    "knowledge base": Term(
        "collection",
        "Entities, the relations between them, and texts about them.",
    ),
    "path": Term(
        "connection",
        "Entities and the relations between them, from one entity to another.",
    ),
    "pipeline": Term(
        "way to answer",
        "The steps by which a question is answered, one after the other.",
    ),
    "plan": Term(
        "reading of the question",
        "What the question was taken to ask: where to start, which way to go, what to find.",
    ),
    "probability": Term(
        "how sure the planner is",
        "Chance that a plan means what the question means, as the planner sees it.",
    ),
    "qrels": Term(
        "known answers",
        "For each question of a test, the answers that people judged right.",
    ),
    "recall": Term(
        "share that was found",
        "Expected answers in the first places, divided by all expected answers.",
    ),
    "release": Term(
        "edition",
        "One import of a knowledge base with its indexes. Searches say which one they used.",
    ),
    "rerank": Term(
        "read closely, order anew",
        "A slower model reads the first results beside the question and orders them again.",
    ),
    "residual": Term(
        "the rest of the question",
        "Words that no relation of the plan covers; texts are searched for them.",
    ),
    "risk": Term(
        "trust in the graph",
        "How far the plan is trusted: none (the text decides alone), little, normal, or full (paths go "
        "first). Settings and files call these risk levels no_trade, weak, normal and aggressive.",
    ),
    "similarity": Term(
        "nearness in meaning",
        "Cosine of two vectors: 1 means the same, 0 nothing in common.",
    ),
    "snapshot": Term(
        "imported data",
        "The graph and texts of one import. It is never changed afterwards.",
    ),
    "target": Term(
        "what is looked for",
        "The kind of entity that the answers are.",
    ),
    "vector": Term(
        "meaning as numbers",
        "A row of numbers for a text; texts of like meaning have like rows.",
    ),
}
"""Word → its explanation, in the order of the alphabet."""

ACRONYMS: Mapping[str, Term] = {
    "AF-Retriever": Term(
        "autofocus retriever",
        "Follows the question’s triplets, with more and more candidates for each name.",
    ),
    "AGR": Term(
        "analyse, generate, refine",
        "A language model analyses the question, writes texts, refines them; these are searched.",
    ),
    "BM25": Term(
        "ranking by words",
        "Best Matching 25: texts with rare words of the question come first.",
    ),
    "GRASP": Term(
        "this site’s own way",
        "Graph paths and texts, each searched, weighed and put into one list.",
    ),
    "HyDE": Term(
        "hypothetical document embeddings",
        "A language model writes an answer, and texts like it are searched.",
    ),
    "KAR": Term(
        "knowledge-aware query expansion",
        "The question is widened with what the graph says of its entities.",
    ),
    "MRR": Term(
        "mean reciprocal rank",
        "1 ÷ the rank of the first right answer, averaged over all questions.",
    ),
    "PPR": Term(
        "personalised PageRank",
        "Weight flows from the entities that the question names; where most ends up is the answer.",
    ),
    "PRF": Term(
        "pseudo-relevance feedback",
        "The first texts that are found lend their words to a second search.",
    ),
    "RAR": Term(
        "retrieval-augmented retrieval",
        "As HyDE, but the language model sees the first texts that were found.",
    ),
    "RRF": Term(
        "reciprocal rank fusion",
        "Lists are added up by ranks alone: w ÷ (k + rank).",
    ),
    "SAGE": Term(
        "structure-aware graph expansion",
        "Results of a first search, and their neighbours: related or alike.",
    ),
    "SPARK": Term(
        "plans written by a language model",
        "A language model writes the plan; the graph carries it out.",
    ),
    "VSS": Term(
        "vector similarity search",
        "Texts nearest in meaning to the question come first.",
    ),
}
"""Acronym → what it stands for, and what it is."""
