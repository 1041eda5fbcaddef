"""Question sets and their questions in the admin: read-only, with links to what was asked and measured."""

from __future__ import annotations

from django.contrib import admin
from django.http import HttpRequest
from django.utils.safestring import SafeString
from unfold.decorators import display

from search.admin.parts import ReadOnlyAdmin, number, pretty
from training.admin import empty
from training.admin.links import link
from training.models import Question, QuestionSet


@admin.register(QuestionSet)
class QuestionSetAdmin(ReadOnlyAdmin):
    """Versions of question sets."""

    when_empty = empty.QUESTION_SETS
    list_display = ("name", "version", "knowledge_base", "count", "splits_shown", "created")
    list_display_links = ("name", "version")
    list_filter = ("knowledge_base", "name")
    search_fields = ("name", "content_hash")
    list_select_related = ("knowledge_base",)
    fields = readonly_fields = (
        "knowledge_base", "name", "version", "count", "splits_shown", "its_questions", "its_evaluations", "source",
        "content_hash", "created",
    )  # fmt: skip

    @display(description="Questions", ordering="questions_count")
    def count(self, question_set: QuestionSet) -> str:
        """The number of its questions."""
        return number(question_set.questions_count)

    @display(description="Splits")
    def splits_shown(self, question_set: QuestionSet) -> str:
        """The number of questions of each split, as words."""
        splits = question_set.splits.items()
        return ", ".join(f"{count:,} {split or 'without a split'}" for split, count in splits) or "–"

    @display(description="Its questions")
    def its_questions(self, question_set: QuestionSet) -> SafeString:
        """A link to the list of its questions."""
        return link("Show its questions", "training_question", question_set__id__exact=question_set.pk)

    @display(description="Its evaluations")
    def its_evaluations(self, question_set: QuestionSet) -> SafeString:
        """A link to the evaluations that asked its questions."""
        return link("Show its evaluations", "training_evaluation", question_set__id__exact=question_set.pk)


@admin.register(Question)
class QuestionAdmin(ReadOnlyAdmin):
    """Questions with their answers."""

    when_empty = empty.QUESTIONS
    list_display = ("text_shown", "identifier", "split", "answers_count", "question_set")
    list_filter = ("question_set",)
    search_fields = ("text", "identifier", "hash")
    list_select_related = ("question_set__knowledge_base",)
    fields = readonly_fields = (
        "question_set", "identifier", "text", "answers_shown", "split", "slices_shown", "hash", "its_searches",
    )  # fmt: skip

    def get_search_help_text(self, request: HttpRequest) -> str:
        """Return the help text of the list's search."""
        return "Words of a question, its id in the file, or its hash."

    @display(description="Question", ordering="text")
    def text_shown(self, question: Question) -> str:
        """The beginning of the question."""
        return question.text[:120]

    @display(description="Answers")
    def answers_count(self, question: Question) -> str:
        """The number of its answers."""
        return number(len(question.answers))

    @display(description="Answers")
    def answers_shown(self, question: Question) -> SafeString | str:
        """The ids of its answers."""
        return pretty(question.answers)

    @display(description="Slices")
    def slices_shown(self, question: Question) -> SafeString | str:
        """The values that reports slice it by."""
        return pretty(question.slices)

    @display(description="Its searches")
    def its_searches(self, question: Question) -> SafeString:
        """A link to the searches of evaluations that asked it."""
        return link(
            "Show its searches", "search_searchrun", asked_by="evaluations", purpose=question.identifier[:200]
        )  # fmt: skip
