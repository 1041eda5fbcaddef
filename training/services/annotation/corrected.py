"""corrected: the questions of a queue with the answers that its final grades give them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from training.data.examples import Example
from training.data.hashes import normalised
from training.data.splits import TRAIN, VAL
from training.models import AnnotationItem, Verdict
from training.services.annotation.grades import GradedItem, QueueGrades


@dataclass
class CorrectedQuestion:
    """A question as a queue leaves it.

    `known` are the answers it had, `grades` the final grades by node, `expected` the answers that annotators added.
    """

    item: AnnotationItem
    known: tuple[str, ...]
    relevant_from: int
    grades: dict[str, int] = field(default_factory=dict)
    expected: dict[str, None] = field(default_factory=dict)
    ranks: dict[str, int] = field(default_factory=dict)

    @property
    def identifier(self) -> str:
        """Its id: that of the question set, or its text's hash where it comes from no set."""
        return self.item.question_identifier or f"q-{self.item.text_hash[:16]}"

    @property
    def kept_apart(self) -> str:
        """A sentence if the question's set keeps it for measuring, so that nothing is learned from it; else empty."""
        if self.item.split in ("", TRAIN):
            return ""
        measured = f"The question is in the split {self.item.split} of its set, on which reports are measured"
        way = " unless the learning is launched with allow_val" if self.item.split == VAL else ""
        return f"{measured}: nothing is learned from it{way}."

    @property
    def rejected(self) -> tuple[str, ...]:
        """Nodes whose final grade says that they are no answer."""
        return tuple(node for node, grade in self.grades.items() if grade < self.relevant_from)

    @property
    def answers(self) -> tuple[str, ...]:
        """The known answers, those that annotators added, and those graded so; without what grades reject."""
        graded = (node for node, grade in self.grades.items() if grade >= self.relevant_from)
        wrong = set(self.rejected)
        return tuple(one for one in dict.fromkeys((*self.known, *self.expected, *graded)) if one not in wrong)

    @property
    def against_ranking(self) -> bool:
        """Whether a rejected node stood above an answer, or first, in a ranking that the queue was made of."""
        answers = [self.ranks[node] for node in self.answers if node in self.ranks]
        wrong = [self.ranks[node] for node in self.rejected if node in self.ranks]
        return bool(wrong) and min(wrong) < min(answers, default=min(wrong) + 1)

    @property
    def corrects(self) -> bool:
        """Whether there is something to learn: other answers than were known, or a grade against the ranking."""
        return bool(self.answers) and (set(self.answers) != set(self.known) or self.against_ranking)

    def example(self, split: str = "") -> Example:
        """Return the question as an example with grades."""
        return Example(self.identifier, self.item.question, self.answers, split or self.item.split, {}, self.grades)


def corrected_questions(grades: QueueGrades) -> dict[str, CorrectedQuestion]:
    """Return the judged questions of a queue, by their words (`text_key`), in the order of the items."""
    found: dict[str, CorrectedQuestion] = {}
    for one in grades.items:
        if not one.given:
            continue
        item = one.item
        question = found.setdefault(
            text_key(item.question), CorrectedQuestion(item, tuple(item.answers), grades.rule.relevant_from)
        )
        if one.final.grade is not None:
            question.grades[item.node_id] = one.final.grade
        question.expected |= dict.fromkeys(_expected(one))
        ranks = [place["rank"] for place in item.origin.get("pipelines", {}).values() if place.get("rank")]
        if ranks:
            question.ranks[item.node_id] = min(ranks)
    return found


def _expected(item: GradedItem) -> list[str]:
    """Return the answers that people added. What a language model names is not taken over."""
    return [
        answer["id"] for one in item.given
        if not one.judgement.model and one.judgement.verdict != Verdict.WITHDRAWN
        for answer in one.judgement.expected
    ]  # fmt: skip


def merged(examples: Sequence[Example], corrected: Mapping[str, CorrectedQuestion]) -> list[Example]:
    """Return a set's questions with the corrections in place, and after them the corrected ones that it lacks.

    A question that keeps no answer is left out.
    """
    left = dict(corrected)
    found: list[Example] = []
    for example in examples:
        question = corrected.get(text_key(example.text))
        left.pop(text_key(example.text), None)
        if question is None:
            found.append(example)
            continue
        made = CorrectedQuestion(question.item, example.answers, question.relevant_from, question.grades,
                                 question.expected)  # fmt: skip
        if made.answers:
            graded = example.grades | question.grades
            found.append(Example(example.id, example.text, made.answers, example.split, example.slices, graded))
    return found + [question.example() for question in left.values() if question.answers]


def text_key(text: str) -> str:
    """Return the words of a question, by which the same question is found in different sets."""
    return normalised(text) or text
