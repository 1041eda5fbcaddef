"""Link: binds the anchors of plans to nodes (GRASP, section on anchor linking)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from search.domain.errors import StageError
from search.domain.graph import ANY, Node
from search.domain.linking import Binding, LinkedPlan, Reach, Reading
from search.domain.options import option
from search.domain.plan import Anchor, Plan, ScoredPlan
from search.domain.ranking import Candidate
from search.domain.trace import Limit, StepOutput
from search.interfaces import Adjacency, Encoder, GraphStore, MentionIndex, NodeStore, VectorIndex, VectorKind
from search.language.readings import Readings

_USUAL = Reach()
AnchorLookup = tuple[str, str, str]
"""The look-up of an anchor: its text, its label, its match mode."""


@dataclass(frozen=True)
class Link:
    """Looks anchors up by the similarity of embeddings: names among names, descriptions among documents.

    An anchor is bound to the best K nodes whose cosine is at least τ times the best cosine. An anchor with ids is bound
    to these nodes with cosine 1, without a look-up. An anchor with a plan is bound to the answers of this plan, with
    cosine 1: the plan is linked and executed first. An anchor without a match stays unbound.
    `mentions` and `adjacency` tell how the names of given nodes were read; without them nothing is told. `graph`
    executes the plans inside anchors.
    """

    encoder: Encoder
    vectors: VectorIndex
    nodes: NodeStore
    name_k: int = option(5, "Largest number of entities that a name is bound to (K).", low=1, high=100)
    name_tau: float = option(
        0.95, "Smallest likeness of a name's entities, as a fraction of the best likeness (τ).", low=0, high=1
    )
    doc_k: int = option(10, "Largest number of entities that a description is bound to (K).", low=1, high=100)
    doc_tau: float = option(
        0.90, "Smallest likeness of a description's entities, as a fraction of the best likeness (τ).", low=0, high=1
    )
    inner_k: int = option(
        1_000, "Largest number of answers of a plan inside a plan that its place is bound to.", low=1, high=10_000
    )
    seconds: float = option(2.0, "Time limit of one plan inside a plan, in seconds.", low=0.01, high=600, public_high=5)

    mentions: MentionIndex | None = None
    adjacency: Adjacency | None = None
    graph: GraphStore | None = None

    def __call__(self, plans: Sequence[ScoredPlan], limit: Limit, reach: Reach = _USUAL) -> StepOutput[LinkedPlan]:
        """Return one linked plan for each plan, in their order; the note names anchors that were not fully bound.

        `reach` multiplies K and τ, to look further for a plan that found nothing.
        """
        anchors = list(dict.fromkeys(anchor for scored in plans for _, anchor in scored.plan.all_anchors))
        looked_up = [anchor for anchor in anchors if not anchor.ids and anchor.plan is None]
        scores = self._given(anchors) | self._look_up(looked_up, limit, reach)
        inner, told = self._answers(plans, limit, reach)
        scores |= inner
        keys = sorted({candidate.key for found in scores.values() for candidate in found})
        named = dict(zip(keys, self.nodes.references(keys), strict=True)) if keys else {}
        readings = self._readings(scores) if reach == _USUAL else {}
        linked = [
            LinkedPlan(
                scored.plan,
                _bindings(scored.plan, scores, named),
                index,
                scored.source,
                scored.probability,
                readings=readings,
            )
            for index, scored in enumerate(plans)
        ]
        detail = " ".join(filter(None, (_note(anchors, scores), *told)))
        return StepOutput(linked, detail=detail, status="degraded" if told else "ok")

    def _answers(
        self, plans: Sequence[ScoredPlan], limit: Limit, reach: Reach
    ) -> tuple[dict[Anchor, list[Candidate]], list[str]]:
        """Return the answers of the plans inside anchors, and a sentence for each that failed or has too many answers.

        A failed one leaves its anchor unbound. Raises StageError if every plan has an anchor whose plan failed.
        """
        found: dict[Anchor, list[Candidate]] = {}
        errors: dict[Anchor, StageError] = {}
        told: list[str] = []
        holding = [[anchor for _, anchor in scored.plan.all_anchors if anchor.plan is not None] for scored in plans]
        for anchor in dict.fromkeys(anchor for several in holding for anchor in several):
            try:
                found[anchor], truncated = self._answers_of(anchor, limit, reach)
            except StageError as error:
                found[anchor], errors[anchor] = [], error
                told.append(f"What {anchor.text!r} means could not be found out: {error.reason}.")
                continue
            if truncated:
                told.append(f"Of what {anchor.text!r} means, only {len(found[anchor])} were taken.")
        if errors and all(any(anchor in errors for anchor in several) for several in holding):
            raise next(iter(errors.values()))
        return found, told

    def _answers_of(self, anchor: Anchor, limit: Limit, reach: Reach) -> tuple[list[Candidate], bool]:
        """Return the answers of the plan inside an anchor, and whether there are more. Raises StageError."""
        if self.graph is None or anchor.plan is None:
            raise StageError("link", "no graph is configured that executes plans inside plans", permanent=True)
        [linked] = self([ScoredPlan(anchor.plan, "user", 1.0)], limit, reach)
        if not linked.is_executable:
            return [], False
        answers = self.graph.execute(linked, limit.at_most(self.seconds), self.inner_k)
        return [Candidate(candidate.key, 1.0) for candidate in answers.candidates], answers.truncated

    def _readings(self, scores: Mapping[Anchor, Sequence[Candidate]]) -> dict[str, Reading]:
        """Return text → how it was read, for the anchors with ids whose text is not simply the name of their nodes."""
        if self.mentions is None or self.adjacency is None:
            return {}
        readings = Readings(self.mentions, self.adjacency, self.nodes)
        given = {anchor.text: [one.key for one in found] for anchor, found in scores.items() if anchor.ids and found}
        read = {text: readings.of(text, keys) for text, keys in given.items()}
        return {text: reading for text, reading in read.items() if reading is not None}

    def _given(self, anchors: Sequence[Anchor]) -> dict[Anchor, list[Candidate]]:
        """Return the bindings of the anchors that have ids."""
        ids = list(dict.fromkeys(node_id for anchor in anchors for node_id in anchor.ids))
        if not ids:
            return {}
        keys = dict(zip(ids, self.nodes.keys(ids), strict=True))
        return {
            anchor: [Candidate(key, 1.0) for node_id in anchor.ids if (key := keys[node_id]) is not None]
            for anchor in anchors
            if anchor.ids
        }

    def _look_up(self, anchors: Sequence[Anchor], limit: Limit, reach: Reach) -> dict[Anchor, list[Candidate]]:
        """Return the bindings of the anchors without ids; each text is embedded once, each look-up done once."""
        wanted = list(dict.fromkeys(_wanted(anchor) for anchor in anchors))
        if not wanted:
            return {}
        limit.check("link")
        texts = list(dict.fromkeys(text for text, _, _ in wanted))
        vectors = dict(zip(texts, self.encoder.encode(texts), strict=True))
        found: dict[AnchorLookup, list[Candidate]] = {}
        for text, label, mode in wanted:
            limit.check("link")
            k, tau = (self.name_k, self.name_tau) if mode == "name" else (self.doc_k, self.doc_tau)
            kind: VectorKind = "name" if mode == "name" else "document+relations"
            labels = () if label == ANY else (label,)
            nearest = self.vectors.nearest(kind, vectors[text], round(reach.k * k), labels, limit)
            best = max((candidate.score for candidate in nearest), default=0.0)
            found[text, label, mode] = [c for c in nearest if c.score >= min(best, reach.tau * tau * best)]
        return {anchor: found[_wanted(anchor)] for anchor in anchors}


def _wanted(anchor: Anchor) -> AnchorLookup:
    return anchor.text, anchor.label, anchor.match_mode


def _bindings(
    plan: Plan, scores: Mapping[Anchor, Sequence[Candidate]], named: Mapping[int, Node]
) -> tuple[Binding, ...]:
    return tuple(
        Binding(anchor.var, named[candidate.key], candidate.score, index)
        for index, anchor in plan.all_anchors
        for candidate in scores[anchor]
    )


def _note(anchors: Sequence[Anchor], scores: Mapping[Anchor, Sequence[Candidate]]) -> str:
    """Return a sentence for each anchor that was not fully bound."""
    sentences = []
    for anchor in anchors:
        found = len(scores[anchor])
        if anchor.ids and found < len(anchor.ids):
            missing = len(anchor.ids) - found
            verb = "does" if missing == 1 else "do"
            sentences.append(f"{missing} of the ids given for {anchor.var} {verb} not exist.")
        elif not found:
            sentences.append(f"Nothing was found for {anchor.text!r}.")
    return " ".join(dict.fromkeys(sentences))
