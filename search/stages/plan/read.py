"""A question → its plans, read by the grammar: annotate, parse, try out, compose (docs/planning.md)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from search.domain.plan import Plan, PlanSource, ScoredPlan, Target
from search.domain.plan.checks import misfits
from search.domain.question import LONGEST_QUESTION
from search.domain.trace import Limit
from search.interfaces import Columns, Keys, MentionIndex, NodeStore, ValueIndex
from search.interfaces.tools import Adjacency
from search.language.detection import language_of
from search.language.gloss import GlossedQuestion
from search.language.glossing.wanted import Wanted
from search.language.names import schema_forms
from search.language.soft_names import SoftTools
from search.language.worded import worded
from search.language.words import language_code
from search.stages.plan.annotate import Annotated, Annotator
from search.stages.plan.calibrate import Grounds, calibration
from search.stages.plan.compose import Composer, NotWritten
from search.stages.plan.derivation import Derivation, Features
from search.stages.plan.grammar import GrammarWeights, fitted, grammar
from search.stages.plan.knowledge import Knowledge
from search.stages.plan.knowledge.described import described
from search.stages.plan.operators.context import Context
from search.stages.plan.parse import Parser
from search.stages.plan.risk import level
from search.stages.plan.schema_index import SchemaIndex
from search.stages.plan.sets import Asked, Kind, NodeSet, Without, codes, narrowed
from search.stages.plan.sparse import LearnedScorer
from search.stages.plan.try_out import Trial
from search.stages.plan.year_nodes import YearNodes


@dataclass(eq=False)
class Tried:
    """A meaning of a whole question with its plan and what it finds. `score` includes what the trial says."""

    derivation: Derivation
    score: float
    plan: Plan
    found: Keys
    left: str
    content: int = 0
    features: Features = ()
    alike: tuple[str, ...] = ()

    @property
    def asked(self) -> Asked | None:
        """What is asked; None where the question is left to text."""
        meaning: Asked | None = self.derivation.meaning
        return meaning

    @property
    def finds(self) -> object:
        """What is told apart of meanings: those that find the same share their probability."""
        asked = self.asked
        return None if asked is None else (asked.ask, asked.show, asked.edge, self.found.tobytes(), self.left)

    def all_features(self) -> dict[str, float]:
        """Return the features of the derivation and of the trial."""
        found = self.derivation.all_features()
        for name, value in self.features:
            found[name] = found.get(name, 0.0) + value
        return found


_HOPELESS = 5.0
"""How far below the best meaning's score one is not executed any more: it would have less than 1% of the probability.

On train questions (300 of movies, 100 of prime-ibd) H@1 and MRR stay, and a search takes a fifth less time.
"""


@dataclass(frozen=True, eq=False)
class Reader:
    """Reads questions over one release. `tried` is the largest number of meanings that are executed."""

    knowledge: Knowledge
    mentions: MentionIndex
    adjacency: Adjacency
    nodes: NodeStore
    columns: Columns
    values: ValueIndex | None = None
    soft: SoftTools | None = None
    weights: GrammarWeights | None = None
    tried: int = 12
    learned: LearnedScorer | None = None

    def __call__(self, text: str, limit: Limit, temperature: float = 1.0, most: int = 10) -> list[ScoredPlan]:
        """Return at most `most` plans of a question, best first, with their probabilities."""
        read = self.read(text, limit)
        if not read:
            return [ScoredPlan(Plan(target=Target("T", (), text.strip()), risk_level="no_trade"), self._source, 1.0)]
        if self.learned is not None:
            temperature *= self.learned.scorer.temperature
        weighed = shared(read, temperature)
        grounds = grounds_of(weighed)
        probability = calibration().probability(grounds.inputs())
        (best, share), *others = weighed
        first = ScoredPlan(
            self._settled(best, share, grounds), self._source, probability, grounds.to_json(), best.alike
        )
        if first.plan.ask == "whether" or grounds.nothing:
            # That nothing is found is an answer, which another meaning must not undo.
            return [first]
        left = (1 - probability) / max(1 - share, 1e-9)
        rest = [
            ScoredPlan(
                self._settled(one, share, grounds), self._source, min(left * share, probability), alike=one.alike
            )
            for one, share in others
        ]
        return [first, *rest][:most]

    def _settled(self, one: Tried, share: float, grounds: Grounds) -> Plan:
        """Return the plan of a meaning with its risk level. What words are left over for is found in texts."""
        plan = one.plan
        if one.asked is None or plan.reads_type:
            return plan
        risk = level(share, grounds.rival, grounds.explained)
        order, ask = plan.order, plan.ask
        if one.left:
            # The first of all are not the first of those whose texts say the words left over.
            order = None if order is None else replace(order, limit=None)
            ask = "which" if ask == "whether" else ask
        return replace(plan, risk_level=risk, order=order, ask=ask)

    def read(self, text: str, limit: Limit) -> list[Tried]:
        """Return the meanings of a question that were tried, best first."""
        said = self.worded(text[:LONGEST_QUESTION]).text
        annotated = self.annotator(said)
        roots = self.parser(annotated, lambda: limit.check("plan"))
        if self.learned is not None:
            roots = self.learned(roots, annotated)
        dated = frozenset(self.schema.number_fields["date"])
        of_kinds = self.knowledge.kept(Trial, dict[NodeSet, Keys])
        trial = Trial(self.adjacency, self.columns, self.schema.playing, dated, of_kinds=of_kinds)
        found: list[Tried] = []
        best = float("-inf")
        for one in roots:
            limit.check("plan")
            # A trial only takes from a score.
            if one.score < best - _HOPELESS:
                break
            if (tried := self._try(one, annotated, trial)) is not None:
                found.append(tried)
                best = max(best, tried.score)
            if len(found) == self.tried:
                break
        return sorted(found, key=lambda one: -one.score)

    def worded(self, text: str) -> GlossedQuestion:
        """Return a question in the language of the knowledge base, its misspelt words of asking mended."""
        if self._is_name(text):
            # A name alone stays as it is.
            base = self.knowledge.schema.language
            return GlossedQuestion(text, text, language_of(text, base), base, read=False)
        forms = self.knowledge.kept(schema_forms, lambda: schema_forms(self.knowledge.schema))
        return worded(text, self.knowledge.schema.language, Wanted(forms, self._is_name, self._is_known))

    def _is_name(self, said: str) -> bool:
        return bool(self.mentions.lookup(said))

    def _is_of_schema(self, word: str) -> bool:
        """Whether a word is a form of one that says an element of the schema: *Länder* of *Land*."""
        return (self.schema.stem(word.casefold()),) in self.schema.entries

    def _is_known(self, word: str) -> bool:
        said = self._is_name(word) or self._is_of_schema(word)
        return said or (self.soft is not None and bool(self.soft.text.postings(word)))

    def _try(self, one: Derivation, annotated: Annotated, trial: Trial) -> Tried | None:
        one = self._answerable(one)
        asked: Asked | None = one.meaning
        left = _left(one, annotated)
        if asked is None:
            labels = tuple(
                self.knowledge.schema.node_types[code].name for code in codes(one.extra.get("head", 0) & self._answers)
            )
            plan = Plan(target=Target("T", labels, annotated.text.strip()), risk_level="no_trade")
            return Tried(one, one.score, plan, np.empty(0, dtype=np.int32), annotated.text, sum(annotated.content))
        alike = _alike(one, annotated)
        if not asked.types & self._answers or (alike and asked.ask == "whether"):
            # Whether there is something of a kind that was only guessed is not what is asked.
            return None
        try:
            # Of a type alone all that is said of its nodes is for their texts.
            of_texts = isinstance(asked.of, Kind) and left and asked.ask == "which" and not asked.show
            plan = self.composer(
                asked, annotated.text.strip() if of_texts else left, "no_trade" if of_texts else "normal"
            )
        except NotWritten:
            return None
        if misfits(plan, self.knowledge.schema):
            return None
        found = trial(asked.of)
        plan = self._playing(plan, asked.types, found)
        features = self._told(asked, found, one, left, annotated, trial)
        return Tried(
            one, one.score + self._weights(features), plan, found, left, sum(annotated.content), features, alike
        )

    def _playing(self, plan: Plan, types: int, found: Keys) -> Plan:
        """Return the plan with the types of what it finds too, where these stand in the role of those asked for."""
        own = {int(code) for code in np.unique(self.adjacency.types[found])}
        if not plan.target.labels or own <= set(codes(types)):
            return plan
        labels = tuple(self.knowledge.schema.node_types[code].name for code in sorted(own))
        return replace(plan, target=replace(plan.target, labels=labels))

    def _answerable(self, one: Derivation) -> Derivation:
        """Return a meaning of which only types that may be answers are left, if some of its types may."""
        types = 0 if one.meaning is None else one.meaning.types & self._answers
        if not types or types == one.meaning.types:
            return one
        return replace(one, meaning=replace(one.meaning, of=narrowed(one.meaning.of, types)))

    @cached_property
    def _answers(self) -> int:
        """The mask of the types that may be answers."""
        return sum(1 << code for code in self.knowledge.answerable)

    def _told(
        self, asked: Asked, found: Keys, one: Derivation, left: str, annotated: Annotated, trial: Trial
    ) -> Features:
        """Return what the trial of a meaning says: what it finds, and whether texts can say the words left over."""
        schema = self.knowledge.schema
        whole = sum(schema.node_types[code].count for code in codes(asked.types))
        share = len(left.split()) / max(1, sum(annotated.content))
        prose = max((self._prose[code] for code in codes(asked.types)), default=0.0)
        nothing = not len(found) and asked.ask != "whether"
        taken = nothing and isinstance(asked.of, Without) and len(trial(asked.of.of)) > 0
        return (
            ("empty", float(nothing and not taken)), ("empty-without", float(taken)),
            ("no", float(not len(found) and asked.ask == "whether")),
            ("says-nothing", float(len(found) == whole and not isinstance(asked.of, Kind))),
            ("left-share", share),
            ("left-prose", prose if left else 0.0), ("left-bare", 1 - prose if left else 0.0),
        )  # fmt: skip

    @property
    def _source(self) -> PlanSource:
        return "schema" if self.learned is None else "learned"

    @cached_property
    def _prose(self) -> list[float]:
        """How many words of prose the nodes of each type have, as a share of those of the type with most, in [0, 1]."""
        found = self.knowledge.kept(described, lambda: described(self.nodes, self.knowledge.schema))
        return [float(count) / (float(found.max()) or 1.0) for count in found]

    @cached_property
    def _weights(self) -> GrammarWeights:
        return self.weights or fitted()

    @cached_property
    def schema(self) -> SchemaIndex:
        """The words of the schema."""
        return self.knowledge.kept(SchemaIndex, lambda: SchemaIndex(self.knowledge.schema, self.knowledge.shape))

    @cached_property
    def annotator(self) -> Annotator:
        """What looks the words of a question up."""
        code = language_code(self.knowledge.schema.language)
        return Annotator(
            self.mentions, self.adjacency, self.schema, self._weights, self.values, code, self.soft,
            self.knowledge.lexicon, self._years,
        )  # fmt: skip

    @cached_property
    def _years(self) -> YearNodes:
        return self.knowledge.kept(YearNodes, lambda: YearNodes(self.knowledge, self.mentions, self.nodes))

    @cached_property
    def parser(self) -> Parser:
        """The chart parser."""
        code = language_code(self.knowledge.schema.language)
        context = self.knowledge.kept(Context, lambda: Context(self.schema))
        return Parser(grammar(), context, self._weights, code)

    @cached_property
    def composer(self) -> Composer:
        """What writes plans."""
        return Composer(self.schema, self.nodes)


def shared(read: Sequence[Tried], temperature: float = 1.0) -> list[tuple[Tried, float]]:
    """Return each meaning with its share of the softmax, best first; of those that find the same only the best one."""
    sums = np.array([one.score for one in read]) / temperature
    shares = np.exp(sums - sums.max())
    shares /= shares.sum()
    found: dict[object, tuple[Tried, float]] = {}
    for one, share in zip(read, shares.tolist(), strict=True):
        best, before = found.get(one.finds, (one, 0.0))
        found[one.finds] = best, before + share
    return sorted(found.values(), key=lambda pair: -pair[1])


def grounds_of(weighed: Sequence[tuple[Tried, float]]) -> Grounds:
    """Return what the probability of the first meaning stands on."""
    (best, share), *others = weighed
    return Grounds.of(
        share, max((other for _, other in others), default=0.0), best.all_features(), len(best.left.split()),
        best.content, nothing=best.asked is not None and not len(best.found), text=best.asked is None,
    )  # fmt: skip


def _left(one: Derivation, annotated: Annotated) -> str:
    """Return the content words of a question that a meaning does not cover, in their order."""
    words = [
        annotated.text[token.start : token.end]
        for at, token in enumerate(annotated.tokens)
        if annotated.content[at] and not one.covered >> at & 1
    ]
    return " ".join([*words, *([annotated.rest] if annotated.rest else [])])


def _alike(one: Derivation, annotated: Annotated) -> tuple[str, ...]:
    """Return the words that a meaning takes for a type or a relation only because they are like its name."""
    places = sorted(step.start for step in one.steps() if step.rule in ("type-like", "relation-like"))
    tokens = [annotated.tokens[at] for at in places]
    return tuple(annotated.text[token.start : token.end] for token in tokens)
