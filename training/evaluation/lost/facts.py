"""The facts from which the lost stage of an answer follows. The rules read nothing else."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from search.domain.plan import Plan
from search.domain.trace import StepRole


@dataclass(frozen=True)
class Held:
    """The places of the expected answers in one list.

    `ranks` holds the rank (from 1) of each expected answer that the list contains, `size` is its number of entries. If
    `whole` is false, only the ranks among its first 100 entries are known.
    """

    name: str
    ranks: Mapping[str, int] = field(default_factory=dict)
    size: int = 0
    whole: bool = True

    @classmethod
    def of(
        cls, name: str, ids: Sequence[str], expected: Iterable[str], size: int | None = None, whole: bool = True
    ) -> Held:
        """Return the places of the expected answers among `ids`, the first entries of the list."""
        wanted = frozenset(expected)
        ranks = {identifier: rank for rank, identifier in enumerate(ids, 1) if identifier in wanted}
        return cls(name, ranks, len(ids) if size is None else size, whole)

    @cached_property
    def places(self) -> dict[str, int]:
        """The rank of each answer if the other expected answers were taken out of the list.

        An answer is not worse for standing behind another answer.
        """
        ordered = sorted(self.ranks.items(), key=lambda entry: entry[1])
        return {identifier: rank - before for before, (identifier, rank) in enumerate(ordered)}

    def in_top(self, answer: str, k: int) -> bool:
        """Whether fewer than `k` nodes that are not expected stand before the answer."""
        place = self.places.get(answer)
        return place is not None and place <= k


@dataclass(frozen=True)
class ListStep:
    """A step that returned a list, with the lists that it combined (none for a plain list)."""

    name: str
    role: StepRole
    output: Held
    inputs: tuple[Held, ...] = ()


@dataclass(frozen=True)
class ExecutedPlan:
    """A plan of the search, and what it does with the expected answers.

    `plan` and `bound` (the ids of the nodes of each anchor) are those before recovery changed the plan. `listed` is the
    list of its candidates. `reaches` are the answers that match the plan in the graph, whether listed or not, and
    `unsure` those for which that is not known. If recovery `changed` the plan, `listed` and `reaches` are those of the
    changed plan: the plan itself found nothing. `without_filters` are the answers that only its filters leave out, and
    `relinked` those that it reaches if its anchors are bound to less similar nodes.
    """

    index: int
    plan: Plan
    probability: float
    bound: tuple[frozenset[str], ...] = ()
    listed: Held = field(default_factory=lambda: Held(""))
    reaches: frozenset[str] = frozenset()
    changed: bool = False
    unsure: frozenset[str] = frozenset()
    without_filters: frozenset[str] = frozenset()
    relinked: frozenset[str] = frozenset()

    @property
    def runs(self) -> bool:
        """Whether the plan is executed in the graph: it starts from an entity and does not say `skip`."""
        return bool(self.plan.anchors) and self.plan.retrieval_mode != "skip" and not self.plan.searches_documents


@dataclass(frozen=True)
class LostWay:
    """A plan of the question that finds expected answers.

    `starts` holds the ids of the nodes of each of its anchors, `names` the text and type of each. `f1` compares the
    `found` nodes with the expected answers. `places` holds the place (see `Held.places`) of each answer in the list of
    this plan alone; it is known only for the best way to an answer.
    """

    starts: tuple[frozenset[str], ...]
    names: tuple[str, ...]
    answers: frozenset[str]
    f1: float
    found: int
    places: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class LostWays:
    """The plans of the question that find expected answers, best first.

    `named` says whether the question names any node. `unsure` says why some plans may be missing.
    """

    ways: tuple[LostWay, ...] = ()
    named: bool = True
    unsure: str = ""

    def to(self, answer: str) -> list[LostWay]:
        """Return the plans that find an answer, best first."""
        return [way for way in self.ways if answer in way.answers]


@dataclass(frozen=True)
class GraphFacts:
    """The graph's branch of a search.

    `planned` says whether the pipeline has a planner; without one, its graph list needs no plan. `problems` maps the
    role of a step that failed to its reason. `best` is the index of the most probable plan that is executed.
    """

    planned: bool
    plans: tuple[ExecutedPlan, ...] = ()
    best: int | None = None
    problems: Mapping[StepRole, str] = field(default_factory=dict)
    ways: LostWays = field(default_factory=LostWays)


@dataclass(frozen=True)
class RunFacts:
    """One finished search and its expected answers.

    `types` and `names` map each expected answer that the release contains to its type and its name. `failed` is the
    reason why the search failed, `unsure` the reason why nothing but its answer is known. `answer` is the final ranking
    and `steps` are the steps that returned lists, in the order in which they ran. `graph` is None for a pipeline that
    does not use the graph. `titles` maps the names of lists to their words on pages.
    """

    expected: tuple[str, ...]
    types: Mapping[str, str]
    answer: Held
    steps: tuple[ListStep, ...] = ()
    graph: GraphFacts | None = None
    answerable: frozenset[str] = frozenset()
    names: Mapping[str, str] = field(default_factory=dict)
    failed: str = ""
    unsure: str = ""
    titles: Mapping[str, str] = field(default_factory=dict)

    def title(self, name: str) -> str:
        """Return the words for a list on pages; its name if it has none."""
        return self.titles.get(name) or name
