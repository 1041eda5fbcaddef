"""What the three judges have in common: candidates, descriptions that fit into a prompt, and the list in its order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar

from search.cosines import QuestionCosines
from search.domain.conversation import NO_MODEL
from search.domain.cutting import shares
from search.domain.errors import StageError
from search.domain.fusion import Fusion
from search.domain.options import option
from search.domain.precedence import K, without_reordering
from search.domain.question import Question
from search.domain.ranking import Candidate, Ranking
from search.domain.signals import Reranked
from search.domain.trace import Limit
from search.interfaces import Adjacency, Encoder, LanguageModel, NodeStore, VectorIndex
from search.interfaces.triplets import Grounding
from search.prompts.autofocus import JudgePrompts
from search.stages.judge.describe import LEFT_OUT, SHORTENINGS, Describer

STAGE = "judge"
JUDGED, GIVEN = "judged", "joined"
"""Names of the two lists: the judge's, and the one that it was given."""
TIME_SHARE = 0.85
"""Part of the remaining time that judging may take: the results must still be explained."""
OVERHEAD = 4_000
"""Characters of a prompt beside the descriptions: rules, and the question."""
PROMPTS = JudgePrompts()


@dataclass(frozen=True)
class JudgedList(Reranked):
    """A list in the order of a judge, with what the judge cost."""

    tokens: Mapping[str, int] = field(default_factory=dict)
    prompt_fingerprint: str = ""


@dataclass
class JudgeVerdict:
    """A judge's order of the candidates, as positions in their list; None if it gave none that can be used.

    `scores` has a score for each entry of `order`. `said` is a sentence for people about what went wrong.
    """

    order: Sequence[int] | None = None
    scores: Sequence[float] = ()
    said: str = ""
    tokens: dict[str, int] = field(default_factory=dict)
    prompt_fingerprint: str = ""


@dataclass(frozen=True)
class Judge:
    """Puts the first k candidates into the order of a language model; the set of the first k stays the same."""

    backend: ClassVar[str] = "language model"
    together: ClassVar[int] = 1
    """Descriptions in one prompt; 0 for all of them."""

    language_model: LanguageModel
    nodes: NodeStore
    adjacency: Adjacency
    encoder: Encoder
    vectors: VectorIndex
    relations: bool = option(True, "Whether descriptions name the neighbours of a possible answer.")
    names: int = option(10, "Names of neighbours over each relation in a description.", low=1, high=100)
    context: int = option(
        60_000,
        "Characters of a prompt above which descriptions are shortened; four characters are about one token.",
        low=2_000,
        high=2_000_000,
        public_high=200_000,
    )
    seconds: float = option(20.0, "Time limit of judging, in seconds.", low=0.1, high=600, public_high=25)

    def __call__(self, question: Question, fusion: Fusion, grounding: Grounding, limit: Limit) -> Fusion:
        """Return the list in its new order. Raises SearchCancelled, and DeadlineExceeded if no time was left at first.

        The order before stays if no model is configured, or if its answers cannot be used; the step says why.
        """
        limit.check(STAGE)
        keys = fusion.ranking.keys[: grounding.wanted]
        if len(keys) < 2:
            return fusion
        if not self.language_model.configured():
            return unchanged(fusion, f"The order before stays: {NO_MODEL}.")
        own = limit.share(TIME_SHARE).at_most(self.seconds)
        try:
            texts, told = self._texts(keys, grounding, own)
            verdict = self.order(question.text, texts, own)
        except StageError as error:
            limit.check(STAGE)
            return unchanged(fusion, f"The order before stays: {error.reason}.")
        if verdict.order is None:
            kept = unchanged(fusion, f"The order before stays: {verdict.said}")
            return replace(kept, tokens=verdict.tokens, prompt_fingerprint=verdict.prompt_fingerprint)
        said = " ".join(filter(None, [verdict.said, told]))
        return self._reordered(question, fusion, keys, verdict, said, limit)

    def order(self, question: str, texts: Sequence[str], limit: Limit) -> JudgeVerdict:
        """Return the verdict on described candidates. A subclass asks the model here."""
        raise NotImplementedError

    def _texts(self, keys: Sequence[int], grounding: Grounding, limit: Limit) -> tuple[list[str], str]:
        """Return the descriptions in the longest form that fits into a prompt; a sentence if they were shortened."""
        nodes = self.nodes.nodes(keys, limit)
        describer = Describer(self.nodes, self.adjacency, grounding.entities, self.names, self.relations)
        room = max(1_000, self.context - OVERHEAD)
        texts: list[str] = []
        for shortening in SHORTENINGS:
            limit.check(STAGE)
            texts = describer.describe(nodes, shortening)
            longest = sorted(map(len, texts), reverse=True)
            if sum(longest[: self.together or None]) <= room:
                told = LEFT_OUT[shortening] if self.relations else ""
                return texts, f"Descriptions were shortened: {told}." if told else ""
        lengths = [room // self.together] * len(texts) if self.together else shares(list(map(len, texts)), room)
        texts = [text[:length] for text, length in zip(texts, lengths, strict=True)]
        return texts, f"Descriptions were shortened: {LEFT_OUT[2]}, and texts are cut."

    def _reordered(
        self, question: Question, fusion: Fusion, keys: Sequence[int], verdict: JudgeVerdict, said: str, limit: Limit
    ) -> Fusion:
        """Return the fusion of the judge's list and the list before, in which the judge's order always prevails.

        By reciprocal ranks, neighbours in the judge's list differ by 1 / ((k + n - 1)(k + n)) at least, n being its
        length. The list before has a weight with which its first place is worth half of that.
        """
        assert verdict.order is not None
        scores = verdict.scores or [float(len(keys) - at) for at in range(len(keys))]
        listed = [Candidate(keys[at], score) for at, score in zip(verdict.order, scores, strict=True)]
        size = len(listed)
        weight = without_reordering(0.5, size - 1)
        cosines = QuestionCosines(question, self.encoder, self.vectors, limit, STAGE)
        return JudgedList.of(
            {JUDGED: Ranking.in_order(listed), GIVEN: fusion}, {JUDGED: 1.0, GIVEN: weight}, K, cosines,
            trust=fusion.trust, detail=said, tokens=verdict.tokens, prompt_fingerprint=verdict.prompt_fingerprint,
        )  # fmt: skip


def unchanged(fusion: Fusion, why: str) -> JudgedList:
    """Return a fusion as it was, with a sentence that says why."""
    known = {name: value for name, value in vars(fusion).items() if name in Fusion.__dataclass_fields__}
    return JudgedList(**known | {"detail": why})
