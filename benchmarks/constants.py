"""How the constants of planning and fusion were chosen: `python -m benchmarks.constants NAME… [--limit N]`.

Each constant is tried at several values on the training questions of several bases, and on the questions of the demo
bases, on which no quality is reported. A table a constant: H@1 and MRR of the fused list, how many questions win and
lose their first place against the present value, and the mean over bases counting every base alike, with the interval
of its difference. Nothing is changed: a choice is made by editing the default, with the table in `docs/decisions.md`.

What a constant cannot change is worked out once a question and kept in memory: vectors, text retrieval, the list of
candidate plans, and what the engine answers to a plan.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from importlib import import_module
from pathlib import Path
from typing import Any, cast

import numpy as np

from benchmarks.common import DATA, PROJECT, NotHere, show, site, table
from search.domain.conditions import CheckedConditions
from search.domain.fusion import Fusion
from search.domain.linking import GraphRanking, LinkedPlan, Traversal
from search.domain.question import Question
from search.domain.ranking import Ranking
from search.domain.trace import Limit, Trace
from search.interfaces import Encoder, GraphStore, Vectors
from search.language.question import AnalysedQuestion
from search.pipelines.grasp import Stages, search
from search.stages.plan.enumeration.enumerate import PlanCandidate
from search.stages.plan.enumeration.propose import Proposer
from search.stages.plan.knowledge import knowledge
from search.stages.plan.scoring import align, score
from training.data.examples import Example, read_examples, spread
from training.evaluation.measures import RESAMPLES, SEED, Values, measure

DEMO = PROJECT / "search" / "fixtures" / "demo"
BASES = ("movies", "prime-ibd", "ottqa-small", "products", "papers", "biomedical")
PLAN = "search.stages.plan"

CONSTANTS: dict[str, tuple[Any, ...]] = {
    "plan.least": (0.0, 0.0005, 0.002, 0.01, 0.05),
    "plan.temperature": (0.5, 0.75, 1.0, 1.5, 2.0),
    "weights.cosine": (0.0, 7.0, 15.0, 20.0, 30.0),
    "weights.hops": (0.0, 1.5, 3.0, 4.5, 6.0),
    "weights.words": (0.0, 1.5, 3.0, 4.5, 6.0),
    "weights.order": (0.0, 1.5, 3.0, 4.5, 6.0),
    "weights.target": (0.0, 1.0, 2.0, 3.0, 4.0),
    "weights.sharing": (0.0, 0.5, 1.0, 2.0),
    "weights.surplus": (0.0, -1.0, -2.0, -3.0, -4.0),
    "weights.missed": (-2.0, -4.0, -6.0, -8.0, -10.0),
    "weights.plain": (0.0, -1.5, -3.0, -4.5, -6.0),
    "weights.size": (0.0, -0.15, -0.3, -0.6, -1.0),
    "weights.text": (1.0, 3.0, 5.0, 7.0, 9.0),
    f"{PLAN}.scoring.align:_SMOOTH": (0.1, 0.25, 0.5, 1.0),
    f"{PLAN}.scoring.align:_TYPE_WORTH": (0.25, 0.5, 0.75, 1.0),
    f"{PLAN}.scoring.align:_IMPLIED": (0.0, 0.4, 0.8, 1.0),
    f"{PLAN}.scoring.features:_UNMARKED": (0.25, 0.5, 0.75, 1.0),
    f"{PLAN}.scoring.features:_UNLIKE": (0.0, 0.25, 0.5, 0.75),
    f"{PLAN}.knowledge.target:_SURE": (0.3, 0.5, 0.7),
    f"{PLAN}.knowledge.lexicon:EXPLAINED": (0.1, 0.2, 0.3, 0.5, 0.7),
    f"{PLAN}.knowledge.lexicon:_PART": (0.0, 0.4, 0.8, 1.0),
    f"{PLAN}.knowledge.lexicon:_CLOSE": (1.0, 1.5, 2.0, 2.5, 3.0),
    f"{PLAN}.knowledge.lexicon:_SOFT": (0.25, 0.5, 1.0),
    f"{PLAN}.knowledge.lexicon:_SHARP": (0.4, 0.75, 1.5),
    f"{PLAN}.knowledge.shape:_RARE": (0.0, 0.05, 0.15, 0.3, 1.0),
    f"{PLAN}.listing:_WORTH": (2.0, 3.0, 4.0, 6.0),
    f"{PLAN}.listing:_NUMBERS": (0.0, 1.0, 2.2, 4.0),
    f"{PLAN}.scoring.risk:_LEVELS": (
        ((0.7, "aggressive"), (0.4, "normal"), (0.15, "weak")),
        ((0.6, "aggressive"), (0.3, "normal"), (0.1, "weak")),
        ((0.8, "aggressive"), (0.5, "normal"), (0.2, "weak")),
        ((0.5, "aggressive"), (0.2, "normal"), (0.05, "weak")),
    ),
    "rescore.believed": (0.0, 0.02, 0.05, 0.1, 0.2),
    "n_cand": ("best plan", "merged list"),
    "fuse.k": (1.0, 2.0, 5.0, 10.0, 20.0, 60.0),
    "fuse.lead": (1.01, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4),
    "fuse.bucket_weights": (
        (2.0, 1.6, 1.4, 1.0, 0.5), (1.0, 1.0, 1.0, 1.0, 1.0), (1.6, 1.4, 0.8, 0.1, 0.1), (2.0, 1.4, 1.0, 0.5, 0.2),
        (2.0, 2.0, 2.0, 2.0, 2.0),
    ),
    "fuse.risk_multipliers": (
        (0.0, 0.5, 1.25, 1.5), (0.0, 1.0, 1.0, 1.0), (0.0, 0.25, 1.0, 1.5), (0.0, 0.75, 1.25, 2.0),
        (0.0, 0.5, 1.0, 2.0),
    ),
}  # fmt: skip
"""The values to try for each name: an option of a stage, a weight of scoring, or a constant of a module."""
RELISTS = ("knowledge.shape", "language")
"""Parts of module paths whose constants change the list of candidate plans."""


class KnownTexts:
    """An encoder that computes each text once."""

    def __init__(self, encoder: Encoder) -> None:
        self.name, self.dimensions = encoder.name, encoder.dimensions
        self._encoder = encoder
        self._known: dict[str, Vectors] = {}

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Return an array with one row for each text."""
        if new := [text for text in dict.fromkeys(texts) if text not in self._known]:
            self._known.update(zip(new, self._encoder.encode(new), strict=True))
        return np.array([self._known[text] for text in texts], dtype=np.float32).reshape(-1, self.dimensions)


class KnownAnswers:
    """An engine that executes each plan once."""

    def __init__(self, graph: GraphStore) -> None:
        self.backend = graph.backend
        self._graph = graph
        self._known: dict[Any, Traversal] = {}

    def execute(self, linked: LinkedPlan, limit: Limit, rows: int = 10_000) -> Traversal:
        """Return the plan's traversal, with the plan's current index."""
        plan = linked.plan
        filters = json.dumps([f.to_json() for f in plan.filters])
        bound = tuple((binding.var, binding.node.key, binding.score) for binding in linked.bindings)
        key = bound, plan.anchors, plan.hops, plan.target.labels, filters, rows
        if key not in self._known:
            self._known[key] = self._graph.execute(linked, limit, rows)
        return replace(self._known[key], plan_index=linked.index)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._graph, name)


class KnownLists(Proposer):
    """A proposer that lists each question's plans once."""

    def candidates(self, question: AnalysedQuestion, limit: Limit) -> list[PlanCandidate]:
        """Return every candidate plan of a question."""
        known = cast(dict[Any, list[PlanCandidate]], self.__dict__.setdefault("known", {}))
        key = question.text
        if key not in known:
            known[key] = super().candidates(question, limit)
        return known[key]


@dataclass
class Base:
    """A knowledge base with its questions, and the stored text lists and proposers for them."""

    name: str
    tools: Any
    examples: Sequence[Example]
    texts: dict[str, Ranking | Fusion] = field(default_factory=dict)
    proposers: dict[Any, KnownLists] = field(default_factory=dict)

    def forget(self) -> None:
        """Drop the stored lists of plans."""
        self.proposers.clear()

    def answered(self, options: Mapping[str, Any], merged: bool) -> dict[str, list[str]]:
        """Return {question id: the first 100 node ids of the fused list}."""
        stages = self._stages(options, merged)
        return {
            example.id: self.tools.nodes.ids(search(Question(example.text[:2000]), stages, Trace()).keys[:100])
            for example in self.examples
        }

    def _stages(self, options: Mapping[str, Any], merged: bool) -> Stages:
        from search import wiring

        grasp = wiring.pipeline("grasp")
        stages: Stages = grasp.compose(grasp.specification(options), self.tools)
        planner: Any = getattr(stages.plan, "planner", stages.plan)
        key = planner.max_hops, planner.max_mentions
        known = self.proposers.get(key)
        if known is None:
            known = self.proposers[key] = KnownLists(
                planner.mentions, planner.adjacency, planner.nodes, planner.knowledge, *key
            )
        planner.__dict__["proposer"] = known
        rescore = stages.rescore

        def rescored(
            question: Question, plans: Sequence[LinkedPlan], found: Sequence[Traversal], limit: Limit
        ) -> GraphRanking:
            graph = rescore(question, plans, found, limit)
            return replace(graph, trust=replace(graph.trust, n_cand=graph.ranking.total)) if merged else graph

        def retrieved(question: Question, limit: Limit) -> Ranking | Fusion:
            if question.text not in self.texts:
                self.texts[question.text] = stages.retrieve(question, limit)
            return self.texts[question.text]

        # Only the nodes and their order are measured, so conditions and explanations are left out.
        return replace(
            stages,
            rescore=rescored,
            retrieve=retrieved,
            check=lambda *_: CheckedConditions(),
            explain=lambda *_: [],
        )


def main() -> None:
    """Print a table for each named constant; without a name, print the names of all constants."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="constants to try; all of them: all")
    parser.add_argument("--bases", default=",".join(BASES))
    parser.add_argument("--split", default="train", choices=("train",), help="val only reports, test is for others")
    parser.add_argument("--limit", type=int, default=200, help="questions of a base, spread over all")
    wanted = parser.parse_args()
    names = list(CONSTANTS) if wanted.names == ["all"] else wanted.names
    unknown = [name for name in names if _named(name) is None]
    if unknown or not names:
        show(f"There are: {', '.join(CONSTANTS)}.")
        return
    with site():
        bases = list(_bases(wanted.bases.split(","), wanted.split, wanted.limit))
        for name in names:
            _try(str(_named(name)), bases)


def _named(name: str) -> str | None:
    """Return the full name of a constant, from this name or from its last part; None if it is unknown."""
    return next((known for known in CONSTANTS if known in (name,) or known.endswith(f":{name}")), None)


def _try(name: str, bases: Sequence[Base]) -> None:
    present, tried = _present(name), []
    for value in CONSTANTS[name]:
        began = time.perf_counter()
        with _set(name, value, bases) as options:
            found = [_measured(base, options, value == "merged list") for base in bases]
        tried.append((value, found, time.perf_counter() - began))
    before = next((found for value, found, _ in tried if value == present), None)
    rows = []
    for value, found, seconds in tried:
        mean = [float(np.mean([values[measured].mean() for values in found])) for measured in ("H@1", "MRR")]
        cells = [f"{values['H@1'].mean():.1f} {values['MRR'].mean():.1f}" for values in found]
        if before:
            pairs = zip(cells, found, before, strict=True)
            cells = [f"{cell} {_paired(values, others)}" for cell, values, others in pairs]
        low, high = _chance(found, before) if before else (0.0, 0.0)
        shown = f"{value}{' *' if value == present else ''}"
        rows.append((shown, *cells, f"{mean[0]:.2f} [{low:+.1f}, {high:+.1f}]", f"{mean[1]:.2f}", f"{seconds:.0f}"))
    columns = (name, *(f"{base.name} ({len(base.examples)})" for base in bases), "mean H@1", "mean MRR", "s")
    table(f"{name}: H@1 and MRR by base, * as it is", columns, rows)


def _measured(base: Base, options: Mapping[str, Any], merged: bool) -> Values:
    return measure(base.answered(options, merged), {example.id: example.answers for example in base.examples})


def _paired(values: Values, before: Values) -> str:
    """Return the numbers of questions that gained (+) and lost (-) a right node in the first place, as text."""
    won, lost = values["H@1"] > before["H@1"], values["H@1"] < before["H@1"]
    return f"+{int(won.sum())} -{int(lost.sum())}"


def _chance(found: Sequence[Values], before: Sequence[Values]) -> tuple[float, float]:
    """Return the 95% bootstrap interval of the difference in mean H@1, questions drawn anew within each base."""
    chance = np.random.default_rng(SEED)
    drawn = np.zeros(RESAMPLES)
    for values, others in zip(found, before, strict=True):
        differences = values["H@1"] - others["H@1"]
        drawn += differences[chance.integers(0, len(differences), (RESAMPLES, len(differences)))].mean(axis=1)
    low, high = np.percentile(drawn / len(found), [2.5, 97.5])
    return float(low), float(high)


def _present(name: str) -> Any:
    """Return the constant's current value."""
    from search import wiring

    if name == "n_cand":
        return "best plan"
    if name.startswith("weights."):
        return getattr(score.EVIDENCE["both"], name.split(".")[1])
    if ":" in name:
        module, constant = name.split(":")
        return getattr(import_module(module), constant)
    return wiring.pipeline("grasp").defaults()[name]


@contextmanager
def _set(name: str, value: Any, bases: Sequence[Base]) -> Iterator[dict[str, Any]]:
    """Set the constant to a value within the context; yields the options of the pipeline."""
    restore: Callable[[], None] = lambda: None  # noqa: E731
    options: dict[str, Any] = {}
    if name.startswith("weights."):
        weights = score.EVIDENCE["both"]
        score.EVIDENCE["both"] = replace(weights, **{name.split(".")[1]: value})
        restore = lambda: score.EVIDENCE.update(both=weights)  # noqa: E731
    elif ":" in name:
        path, constant = name.split(":")
        module, before = import_module(path), _present(name)
        setattr(module, constant, value)
        restore = lambda: setattr(module, constant, before)  # noqa: E731
    elif name != "n_cand":
        options[name] = value
    _forget(name, bases)
    try:
        yield options
    finally:
        restore()
        _forget(name, bases)


def _forget(name: str, bases: Sequence[Base]) -> None:
    """Drop the stored results that depend on the constant."""
    if ":" not in name:
        return
    knowledge._known.clear()
    align._row.cache_clear()
    for base in bases:
        if any(room in name for room in RELISTS):
            base.forget()


def _bases(names: Sequence[str], split: str, limit: int) -> Iterator[Base]:
    """Yield the knowledge bases that exist on this machine."""
    from benchmarks.bases import imported
    from search import wiring
    from search.models import KnowledgeBase
    from search.neural.site_encoders import encoder as site_encoder

    encoder = KnownTexts(site_encoder())
    for name in names:
        try:
            imported(name, DEMO / name if (DEMO / name).is_dir() else None)
            examples = list(_questions(name, split))
        except NotHere as reason:
            show(f"{name}: {reason}; not tried.")
            continue
        release = KnowledgeBase.objects.get(name=name).active_release
        tools = type("KnownTools", (wiring.Tools,), {"encoder": encoder})(release)
        tools.graph = KnownAnswers(tools.graph)
        yield Base(name, tools, spread(examples, limit))


def _questions(name: str, split: str) -> Iterator[Example]:
    """Yield a base's questions for choosing constants; no quality is reported on those of a demo base."""
    own = DATA / name / "questions.jsonl.gz"
    if own.is_file():
        yield from read_examples(own, split)
        return
    yield from read_examples(DEMO / name / "questions.jsonl")
    asked: Path = DATA / "asked" / f"{name}.jsonl"
    if asked.is_file():
        yield from read_examples(asked, split)


if __name__ == "__main__":
    main()
