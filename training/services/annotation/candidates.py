"""candidates: what a rule matches, counted and drawn in the database, so that a million of them are never loaded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import OperationalError, connection, transaction

from search.domain.errors import Fault, InvalidRequest
from search.models import KnowledgeBase
from training.annotation.rules import DISAGREEMENT, FEEDBACK, LOST, MARGIN, RANDOM, SPREAD, RuleArguments

MOST_COUNTED = 1_000_000
"""Candidates are counted up to this number."""
COUNT_SECONDS = 20
"""Time limit of one statement."""

_CHOSEN = """
chosen AS (
    SELECT o.evaluation_id, o.pipeline, o.question_id, q.hash, q.answers, o.ids, o.scores, o.lost_at, o.state
    FROM training_outcome o JOIN training_askedquestion q ON q.id = o.question_id
    WHERE o.evaluation_id = ANY(%(evaluations)s) AND (o.evaluation_id, o.pipeline) IN (
        SELECT * FROM unnest(%(of)s::uuid[], %(labels)s::text[]))
)"""
_LOST = """
candidates AS (
    SELECT hash, answer AS node, 'lost' AS kind, min(question_id) AS source, 0.0 AS priority
    FROM chosen, unnest(answers) AS answer
    WHERE lost_at <> '' AND (%(stages)s::text[] = '{}' OR lost_at = ANY(%(stages)s))
        AND NOT answer = ANY(ids[1:%(depth)s])
    GROUP BY hash, answer
  UNION ALL
    SELECT hash, ids[1], 'instead', min(question_id), 0.0
    FROM chosen
    WHERE lost_at <> '' AND (%(stages)s::text[] = '{}' OR lost_at = ANY(%(stages)s))
        AND cardinality(ids) > 0 AND NOT ids[1] = ANY(answers)
    GROUP BY hash, ids[1]
)"""
# A question counts where every pipeline answered it: a search that failed disagrees with nobody.
_DISAGREEMENT = """
asked AS (
    SELECT hash FROM chosen WHERE state <> 'error'
    GROUP BY hash HAVING count(DISTINCT (evaluation_id, pipeline)) = cardinality(%(of)s::uuid[])
), candidates AS (
    SELECT hash, node, 'disagreement' AS kind, min(question_id) AS source, min(place)::float AS priority
    FROM chosen JOIN asked USING (hash), unnest(ids[1:%(depth)s]) WITH ORDINALITY AS listed(node, place)
    GROUP BY hash, node HAVING count(DISTINCT (evaluation_id, pipeline)) < cardinality(%(of)s::uuid[])
)"""
_MARGIN = """
margins AS (
    SELECT *, CASE WHEN scores[1] > scores[least(cardinality(scores), %(spread)s)]
        THEN (scores[1] - scores[2]) / (scores[1] - scores[least(cardinality(scores), %(spread)s)]) ELSE 0 END AS margin
    FROM chosen WHERE cardinality(scores) > 1
), candidates AS (
    SELECT hash, node, 'margin' AS kind, min(question_id) AS source, min(margin)::float AS priority
    FROM margins, unnest(ids[1:2]) AS node WHERE margin <= %(margin)s GROUP BY hash, node
)"""
_RANDOM = """
candidates AS (
    SELECT hash, node, 'random' AS kind, min(question_id) AS source, 0.0 AS priority
    FROM chosen, unnest(ids[1:%(depth)s]) AS node GROUP BY hash, node
)"""
_FEEDBACK = """
candidates AS (
    SELECT lower(trim(r.question)) AS hash, f.node_id AS node, 'feedback' AS kind, min(f.id) AS source, 0.0 AS priority
    FROM search_feedback f JOIN search_searchrun r ON r.id = f.run_id
    WHERE r.knowledge_base_id = %(base)s AND trim(r.question) <> ''
        AND (%(kinds)s::text[] = '{}' OR f.kind = ANY(%(kinds)s))
    GROUP BY lower(trim(r.question)), f.node_id
)"""
# Which candidates of a question are kept, and which questions, follows from the seed and the texts alone.
_KEPT = """
kept AS (
    SELECT * FROM (
        SELECT *, row_number() OVER (
            PARTITION BY hash, kind ORDER BY priority, md5(%(seed)s || node)) AS place FROM candidates
    ) AS numbered WHERE place <= %(per_question)s
)"""
_PARTS: Mapping[str, str] = {
    LOST: f"{_CHOSEN}, {_LOST}", DISAGREEMENT: f"{_CHOSEN}, {_DISAGREEMENT}", MARGIN: f"{_CHOSEN}, {_MARGIN}",
    RANDOM: f"{_CHOSEN}, {_RANDOM}", FEEDBACK: _FEEDBACK,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class ShownCandidate:
    """A node for a question. `source` is the id of the asked question, or of a row of feedback for that rule.

    `kind` says what the rule saw in it: `lost`, `instead`, `disagreement`, `margin`, `random`, `feedback`.
    """

    source: int
    node: str
    kind: str


@dataclass(frozen=True, slots=True)
class Matched:
    """How many candidates a rule matches, exactly up to `MOST_COUNTED`."""

    count: int

    @property
    def more(self) -> bool:
        """Whether there are more than were counted."""
        return self.count > MOST_COUNTED

    def sentence(self, limit: int) -> str:
        """What a queue with this limit would hold, for people."""
        if not self.count:
            return "The rule matches nothing: no queue is made. Look at more pipelines, stages or results."
        told = f"more than {MOST_COUNTED:,}" if self.more else f"{self.count:,}"
        said = f"The rule matches {told} candidate{'' if self.count == 1 else 's'}; "
        return said + (
            "the queue takes all of them." if self.count <= limit else f"the queue takes {limit:,}, drawn by the seed."
        )


def count_candidates(
    rule: str, base: KnowledgeBase, arguments: RuleArguments, sources: Sequence[tuple[Any, str]], seed: int
) -> Matched:
    """Return how many candidates the rule matches. `sources` are pairs of an evaluation's id and a pipeline's label.

    Raises InvalidRequest if counting takes longer than `COUNT_SECONDS`.
    """
    counted = (
        f"WITH {_PARTS[rule]}, {_KEPT} SELECT count(*) FROM (SELECT 1 FROM kept LIMIT {MOST_COUNTED + 1}) AS counted"
    )
    return Matched(_rows(counted, _values(rule, base, arguments, sources, seed))[0][0])


def draw_candidates(
    rule: str, base: KnowledgeBase, arguments: RuleArguments, sources: Sequence[tuple[Any, str]], seed: int, limit: int
) -> list[ShownCandidate]:
    """Return at most `limit` candidates: of small margins the smallest, else a sample drawn by the seed."""
    order = "priority, md5(%(seed)s || hash || node)" if rule == MARGIN else "md5(%(seed)s || hash || node)"
    drawn = f"WITH {_PARTS[rule]}, {_KEPT} SELECT source, node, kind FROM kept ORDER BY {order}, kind LIMIT %(limit)s"
    values = _values(rule, base, arguments, sources, seed) | {"limit": limit}
    return [ShownCandidate(*row) for row in _rows(drawn, values)]


def _values(
    rule: str, base: KnowledgeBase, arguments: RuleArguments, sources: Sequence[tuple[Any, str]], seed: int
) -> dict[str, Any]:
    return {
        "evaluations": [one for one, _ in sources], "of": [one for one, _ in sources],
        "labels": [label for _, label in sources], "stages": list(arguments.stages), "kinds": list(arguments.kinds),
        "depth": arguments.depth, "margin": arguments.margin, "spread": SPREAD, "seed": str(seed), "base": base.pk,
        "per_question": arguments.per_question if rule in (LOST, DISAGREEMENT, FEEDBACK) else MOST_COUNTED,
    }  # fmt: skip


def _rows(statement: str, values: Mapping[str, Any]) -> list[tuple[Any, ...]]:
    """Return the rows of a statement that reads. Raises InvalidRequest if it takes too long."""
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(f"SET LOCAL statement_timeout = '{COUNT_SECONDS}s'")
            cursor.execute(statement, values)
            rows = cursor.fetchall()
            cursor.execute("SET LOCAL statement_timeout = 0")
            return rows
    except OperationalError as error:
        message = f"The rule matches so much that it cannot be counted within {COUNT_SECONDS} seconds; narrow it."
        raise InvalidRequest([Fault("/arguments", message)]) from error
