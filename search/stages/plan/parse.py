"""One chart for a question: neighbouring stretches are joined by the rules of the grammar, the best of each kept.

A cell holds the meanings of one stretch of the question, of each category at most `beam`. Words between two joined
stretches are skipped at a price: none for function words, more for a word that means something.
"""

from __future__ import annotations

from bisect import insort
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from typing import Any

from search.language.languages import language
from search.stages.plan.annotate import Annotated
from search.stages.plan.derivation import Derivation, Features
from search.stages.plan.grammar import Grammar, GrammarWeights, Rule
from search.stages.plan.operators.context import Context
from search.stages.plan.sets import Asked, Kind, Named, NodeSet, Walk, parts

Cell = dict[str, list[Derivation]]
Gap = tuple[float, Features, str]
"""What skipping the words between two stretches costs, its features, and what kind of words they are."""
_DECIDING = frozenset(
    (
        "NOT",
        "LACK",
        "EXCEPT",
        "MOST",
        "FEW",
        "COUNT",
        "AVG",
        "SUM",
        "OR",
        "THAN",
        "SHARE",
        "SAME",
        "TOGETHER",
        "Q",
        "K",
        "CMP",
        "MORE",
        "LESS",
        "BACK",
        "EVERY",
        "SORT",
        "FORBID",
        "PERMIT",
    )
)
"""Categories of words that decide what is asked: a meaning that skips one leaves a condition out."""
_ROOTS = ("S", "V")
_BEHIND = 3.5
"""How far behind the best of its category and stretch a meaning may be and is still kept."""
_LONGEST = 18
"""Most words of a stretch that begins inside a part of a sentence."""
_MANY = 3_000
"""Number of meanings made for a question after which its cells keep half as many."""
_GAIN = 0.2
"""Most that the features of a rule are expected to add to its own weight."""
_SKIPPED = 6
"""Most tokens that are skipped between two joined stretches."""


@dataclass(frozen=True, eq=False)
class Parser:
    """Joins the annotations of a question to whole meanings."""

    grammar: Grammar
    context: Context
    weights: GrammarWeights
    code: str = "en"
    beam: int = 6

    def __call__(self, annotated: Annotated, check: Callable[[], None] = lambda: None) -> list[Derivation]:
        """Return the meanings of the whole question, best first; words that no meaning covers are priced."""
        chart = _Chart(self, annotated)
        chart.fill(check)
        return chart.roots()


class _Tops:
    """The best scores of each category of a span: what cannot come among them is not made."""

    def __init__(self, most: int, had: Sequence[Derivation]) -> None:
        self._most = most
        self._scores: dict[str, list[float]] = defaultdict(list)
        for one in had:
            insort(self._scores[one.category], one.score)

    def may_hold(self, category: str, score: float) -> bool:
        """Whether a meaning of a category with such a score at most may be kept."""
        scores = self._scores[category]
        return not scores or (
            score >= scores[-1] - _BEHIND and (len(scores) < self._most or score >= scores[-self._most])
        )

    def hold(self, category: str, score: float) -> bool:
        """Take the score of a meaning of a category; return whether it is among the best."""
        scores = self._scores[category]
        if len(scores) >= self._most and score <= scores[-self._most]:
            return False
        insort(scores, score)
        return True


class _Chart:
    """The cells of one question."""

    def __init__(self, parser: Parser, annotated: Annotated) -> None:
        self.parser, self.said = parser, annotated
        self.size = len(annotated.tokens)
        self.cells: dict[tuple[int, int], Cell] = {}
        self._gaps: dict[tuple[int, int], Gap] = {}
        known: dict[int, set[str]] = defaultdict(set)
        for one in annotated.annotations:
            for at in range(one.start, one.end):
                known[at].add(one.category)
        self.known = known
        self.said_relations = {
            at
            for one in annotated.annotations
            if one.category == "R" and not one.rule.endswith("-like")
            for at in range(one.start, one.end)
        }
        self.made = 0

    def fill(self, check: Callable[[], None]) -> None:
        """Fill all cells, shorter ones before the longer ones that end at the same word."""
        by_span: dict[tuple[int, int], list[Derivation]] = defaultdict(list)
        for one in self.said.annotations:
            by_span[one.start, one.end].append(one)
        for end in range(1, self.size + 1):
            check()
            rights: list[tuple[int, Cell]] = []
            for start in range(end - 1, -1, -1):
                if end - start > _LONGEST and not self._begins(start):
                    continue
                made = list(by_span.get((start, end), ()))
                made += self._joined(start, reversed(rights), made)
                if not made:
                    continue
                cell = _kept(made, self._beam)
                more = [child for category, several in cell.items() for one in several for child in self._alone(one)]
                if more:
                    cell = _kept([*made, *more], self._beam)
                self.cells[start, end] = cell
                rights.append((start, cell))

    @property
    def _beam(self) -> int:
        """How many meanings of a category a cell keeps: fewer when a question has made many."""
        return max(2, self.parser.beam >> self.made // _MANY)

    def _begins(self, start: int) -> bool:
        """Whether a sentence or a part of one begins at a word: only these may be long."""
        return start == 0 or bool(self.said.tokens[start].mark)

    def _alone(self, one: Derivation) -> Iterator[Derivation]:
        for rule in self.parser.grammar.of_one.get(one.category, ()):
            for meaning, features in rule.function(self.parser.context, one):
                yield _made(rule, meaning, features, (one,), self._score(rule, features, (one,)))

    def _joined(
        self, start: int, rights: Iterable[tuple[int, Cell]], had: Sequence[Derivation]
    ) -> Iterator[Derivation]:
        """Yield what the rules make of two neighbouring stretches: one from a place on, and one of some others."""
        tops = _Tops(2 * self._beam, had)
        for middle, right in rights:
            for stop in range(middle, max(start, middle - _SKIPPED), -1):
                if (left := self.cells.get((start, stop))) is not None:
                    yield from self._of_cells(left, right, self._gap(stop, middle), tops)

    def _of_cells(self, left: Cell, right: Cell, gap: Gap, tops: _Tops) -> Iterator[Derivation]:
        """Yield what the rules make of the meanings of two cells.

        Those of the right cell come best first: what is too low with one of them is too low with those behind it.
        """
        weights = self.parser.weights.of
        for category, other, rules in _pairs(left, right, self.parser.grammar.of_two):
            gains = [(rule, gap[0] + weights.get(rule.feature, 0.0) + _GAIN) for rule in rules]
            for one in left[category]:
                for two in right[other]:
                    high = False
                    for rule, gain in gains:
                        if tops.may_hold(rule.result, one.score + two.score + gain):
                            high = True
                            yield from self._of_rule(rule, one, two, gap, tops)
                    if not high:
                        break

    def _of_rule(self, rule: Rule, one: Derivation, two: Derivation, gap: Gap, tops: _Tops) -> Iterator[Derivation]:
        price, skipped, between = gap
        placed: Features = ((f"{rule.id}:{between}", 1.0),) if rule.id in _PLACED else ()
        for meaning, features in rule.function(self.parser.context, one, two):
            self.made += 1
            features = (*features, *placed)
            score = self._score(rule, features, (one, two), price)
            if tops.hold(rule.result, score):
                whole = meaning() if isinstance(meaning, partial) else meaning
                yield _made(rule, whole, (*features, *skipped), (one, two), score)

    def _score(self, rule: Rule, features: Features, children: tuple[Derivation, ...], price: float = 0.0) -> float:
        weights = self.parser.weights.of
        score = weights.get(rule.feature, 0.0) + price
        for name, value in features:
            if value:
                score += weights.get(name, 0.0) * value
        for child in children:
            score += child.score
        return score

    def _gap(self, start: int, end: int) -> Gap:
        """Return the price of skipping words, its features, and what kind of words they are."""
        found = self._gaps.get((start, end))
        if found is None:
            features = self._skipped(start, end)
            found = self._gaps[start, end] = self.parser.weights(features), features, self._between(start, end)
        return found

    def _skipped(self, start: int, end: int) -> Features:
        count: dict[str, float] = {}
        for at in range(start, end):
            known = self.known.get(at, set())
            for category in sorted(known):
                if category in _DECIDING:
                    count[f"skip-{category}"] = count.get(f"skip-{category}", 0.0) + 1.0
            name = ""
            if self.said.content[at]:
                name = "skip-known" if known else "skip-unknown"
            elif known & {"S", "R", "F", "K", "Q"}:
                name = "skip-asking"
            if name:
                count[name] = count.get(name, 0.0) + 1.0
        return tuple(count.items())

    def _between(self, start: int, end: int) -> str:
        said = [token.word for token in self.said.tokens[start:end]]
        marked = any(token.mark for token in self.said.tokens[start : end + 1])
        for name, words in _between_kinds(self.parser.code):
            if any(word in words for word in said):
                return name
        return "mark" if marked else "none"

    def roots(self) -> list[Derivation]:
        """Return the meanings of the whole question, best first."""
        found: dict[Any, Derivation] = {}
        for (start, end), cell in self.cells.items():
            before, after = self._gap(0, start)[1], self._gap(end, self.size)[1]
            for category in _ROOTS:
                for one in [*cell.get(category, ()), *self._around(cell, category)]:
                    asked = one.meaning if isinstance(one.meaning, Asked) else self._asked(one.meaning)
                    features = (*before, *after, *self._whole(asked, one))
                    score = one.score + self.parser.weights(features)
                    root = Derivation(0, self.size, "ROOT", asked, score, "", features, (one,), one.covered)
                    if asked not in found or found[asked].score < score:
                        found[asked] = root
        if self.size:
            features = (*self._gap(0, self.size)[1], ("root-text", 1.0))
            found[None] = Derivation(0, self.size, "ROOT", None, self.parser.weights(features), "", features)
            found[None].extra["head"] = self._head
        return sorted(found.values(), key=lambda one: -one.score)

    def _around(self, cell: Cell, category: str) -> Iterator[Derivation]:
        """Yield what is joined with a named thing by a relation that no word says: *what can I take for gout*."""
        for one in cell.get(category, ()) if category == "S" else ():
            if not isinstance(one.meaning, Named):
                continue
            for relation, way, reached, _, share in self.parser.context.ways(
                one.meaning.types, self.parser.context.schema.all_types
            ):
                meaning = Walk(reached, one.meaning, relation, way)
                features: Features = (("root-unsaid", 1.0), ("root-unsaid-share", share))
                score = one.score + self.parser.weights(features)
                yield Derivation(one.start, one.end, "S", meaning, score, "", features, (one,), one.covered)

    def _asked(self, of: NodeSet) -> Asked:
        return Asked(of, "whether") if self._asks_whether and not isinstance(of, Kind) else Asked(of)

    @cached_property
    def _asks_whether(self) -> bool:
        """Whether a question begins as one that is answered by yes or no."""
        first = next((token.word for token in self.said.tokens if token.word), "")
        return first in language(self.parser.code).set("grammar_between", "aux")

    def _whole(self, asked: Asked, one: Derivation) -> Features:
        head = self._head
        own = asked.types
        named = one.rule.startswith("name-")
        kind = isinstance(asked.of, Kind)
        told = (
            ("head-agrees", bool(head & own) and not asked.show),
            ("head-differs", bool(head) and not head & own and not asked.show),
            ("root-named-alone", one.rule == "name-name" and not self._says_more(one)),
            ("root-lone", named and (one.start, one.end) == (0, self.size)),
            ("root-named", named and asked.ask == "which" and not asked.show), ("root-kind", kind),
            ("whether-open", asked.ask == "whether" and self._is_open(asked)),
            ("root-show", bool(asked.show)), ("root-count", asked.ask == "how many"),
            ("count-missed", self._asks_number and asked.ask != "how many" and not asked.show),
        )  # fmt: skip
        return tuple((name, 1.0) for name, holds in told if holds)

    @cached_property
    def _asks_number(self) -> bool:
        """Whether one of the first words asks for a number."""
        return any("COUNT" in self.known.get(at, ()) for at in range(3))

    def _says_more(self, one: Derivation) -> bool:
        """Whether a question says anything beside a name: a word of content, or a word that asks for another thing."""
        places = [at for at in range(self.size) if not one.covered >> at & 1]
        if one.start and self.said.tokens[one.start - 1].word in language(self.parser.code).set(
            "grammar_between", "prep"
        ):
            return True
        asking = {"WHO", "WHEN", "WHERE", "COUNT", "NOT", "LACK", "EXCEPT", "F"}
        return any(
            self.said.content[at] or at in self.said_relations or self.known.get(at, set()) & asking for at in places
        )

    @cached_property
    def _head(self) -> int:
        """The mask of the types that a question asks for: by a question word, or by the first noun."""
        which = language(self.parser.code).set("grammar_asked", "which")
        behind = (at for at in range(1, self.size) if self.said.tokens[at - 1].word in which)
        found = next((types for at in behind if (types := self._noun(at))), 0)
        return found or self._asked_by_word() or self._first_noun()

    def _is_open(self, asked: Asked) -> bool:
        """Whether yes or no is asked of nothing named, and not of whether there is any."""
        any_of = any("THERE" in self.known.get(at, ()) for at in range(4))
        return not any_of and not any(isinstance(part, Named) for part in parts(asked.of))

    def _asked_by_word(self) -> int:
        """Return the mask of the types that *who* or *when* asks for."""
        for cell in self.cells.values():
            for one in cell.get("S", ()):
                if one.children and one.children[0].category in ("WHO", "WHEN") and len(one.children) == 1:
                    return int(one.meaning.types)
        return 0

    def _first_noun(self) -> int:
        for start in range(min(self.size, _SKIPPED)):
            if found := self._noun(start):
                return found
            says = any(category in ("S", "R", "F") for category in self.cells.get((start, start + 1), {}))
            if says or self.said.content[start]:
                return 0
        return 0

    def _noun(self, start: int) -> int:
        """Return the mask of the type that the words from a place on name; 0 if they name none."""
        for end in range(min(self.size, start + 4), start, -1):
            for one in self.cells.get((start, end), {}).get("S", ()):
                if isinstance(one.meaning, Kind) and one.rule.startswith("type"):
                    return int(one.meaning.types)
        return 0


def _made(rule: Rule, meaning: Any, features: Features, children: tuple[Derivation, ...], score: float) -> Derivation:
    covered = 0
    for child in children:
        covered |= child.covered
    named = ((rule.feature, 1.0), *features)
    start, end = children[0].start, children[-1].end
    return Derivation(start, end, rule.result, meaning, score, rule.id, named, children, covered)


def _pairs(
    left: Cell, right: Cell, rules_of: Mapping[str, Mapping[str, list[Rule]]]
) -> Iterator[tuple[str, str, list[Rule]]]:
    """Yield the categories of two cells that rules join, with these rules."""
    for category in left:
        by_right = rules_of.get(category)
        if by_right is not None:
            for other in right:
                if (rules := by_right.get(other)) is not None:
                    yield category, other, rules


_PLACED = frozenset(("count-cond", "list")) | frozenset(
    ("and-same", "join-post", "join-pre", "sup-post", "sup-scale", "of-field", "field-of", "arg-rel", "rel-arg")
)


@lru_cache(maxsize=8)
def _between_kinds(code: str) -> tuple[tuple[str, frozenset[str]], ...]:
    """Return the kinds of small words between two stretches, in their order, with the words of each."""
    lang = language(code)
    return tuple((name, lang.set("grammar_between", name)) for name in lang.table("grammar_between"))


def _kept(made: Sequence[Derivation], beam: int) -> Cell:
    """Return the best derivations of each category; of equal meanings only the best one."""
    best: dict[tuple[str, Any], Derivation] = {}
    for one in made:
        key = one.category, one.meaning
        if key not in best or best[key].score < one.score:
            best[key] = one
    cell: Cell = defaultdict(list)
    for one in sorted(best.values(), key=lambda one: -one.score):
        several = cell[one.category]
        if len(several) < beam and (not several or several[0].score - one.score < _BEHIND):
            several.append(one)
    return dict(cell)
