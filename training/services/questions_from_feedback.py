"""questions_from_feedback: questions with answers, made of what people said about the results of searches."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from search.models import Feedback, KnowledgeBase
from training.data.examples import BadQuestions, Example
from training.data.hashes import normalised
from training.data.pasted import made_id

POSITIVE = (Feedback.Kind.RIGHT, Feedback.Kind.MISSING)


@dataclass(frozen=True, slots=True)
class Conflict:
    """A node that some people call an answer to a question and others do not, with how many of each."""

    question: str
    node: str
    name: str
    right: int
    wrong: int

    @property
    def sentence(self) -> str:
        """What people disagree about, and what was made of it."""
        outcome = "counts as an answer" if self.right > self.wrong else "is left out"
        said = f"{self.right} said it is an answer, {self.wrong} that it is not; it {outcome}"
        return f"“{self.question[:120]}”: {self.name or self.node} ({self.node}): {said}."


@dataclass(frozen=True, slots=True)
class Gathered:
    """Questions made of feedback, what people disagree about, and the questions to which nobody named an answer."""

    examples: tuple[Example, ...]
    conflicts: tuple[Conflict, ...]
    without_answer: tuple[str, ...]


def questions_from_feedback(base: KnowledgeBase, since: datetime | None = None) -> Gathered:
    """Return the questions of searches that people judged, with the nodes that they call right or missing as answers.

    The same question, whatever its case and punctuation, is one question, whoever asked it and however often. A
    person's last judgment of a node counts. Where people disagree, a node is an answer if more of them say so than
    deny it. `since` leaves out older judgments. Raises BadQuestions when no question gets an answer.
    """
    rows = Feedback.objects.filter(run__knowledge_base=base).select_related("run").order_by("changed", "pk")
    texts: dict[str, str] = {}
    names: dict[str, str] = {}
    judged: dict[str, dict[str, dict[str, bool]]] = defaultdict(lambda: defaultdict(dict))
    for row in rows.filter(changed__gte=since) if since else rows:
        said = normalised(row.run.question) or row.run.question
        texts.setdefault(said, row.run.question)
        names[row.node_id] = row.node_name
        judged[said][row.node_id][_person(row)] = row.kind in POSITIVE
    examples, conflicts, without = [], [], []
    for said, nodes in judged.items():
        answers = []
        for node, votes in nodes.items():
            right = sum(votes.values())
            wrong = len(votes) - right
            if right and wrong:
                conflicts.append(Conflict(texts[said], node, names[node], right, wrong))
            if right > wrong:
                answers.append(node)
        if answers:
            examples.append(_example(texts[said], answers, nodes.values()))
        else:
            without.append(texts[said])
    if not examples:
        raise BadQuestions(
            [f"No feedback has named an answer to a question about {base.name} yet: there is no feedback."]
        )
    return Gathered(tuple(examples), tuple(conflicts), tuple(without))


def described(gathered: Gathered) -> dict[str, Any]:
    """Return conflicts and questions without an answer as JSON."""
    return {
        "conflicts": [
            {"question": one.question, "node": one.node, "name": one.name, "right": one.right, "wrong": one.wrong}
            for one in gathered.conflicts
        ],
        "without_answer": list(gathered.without_answer),
    }


def notes_of(gathered: Gathered) -> tuple[str, ...]:
    """Return conflicts and questions without an answer as sentences."""
    without = (f"“{text[:120]}” is left out: nobody named an answer." for text in gathered.without_answer)
    return (*(one.sentence for one in gathered.conflicts), *without)


def _example(text: str, answers: list[str], votes: Iterable[dict[str, bool]]) -> Example:
    people = {person for each in votes for person in each}
    return Example(made_id(text), text, tuple(sorted(answers)), "", {"people": str(len(people))})


def _person(row: Feedback) -> str:
    """Return who judged: the account, the visitor, or the row where the account is gone."""
    if row.user_id is not None:
        return f"user {row.user_id}"
    return f"visitor {row.asker}" if row.asker else f"row {row.pk}"
