"""Question sets and their questions in the admin: imported, never changed, with links to what was asked of them."""

from __future__ import annotations

from django.contrib import admin
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from unfold.decorators import display

from search.admin.parts import ReadOnlyAdmin, number, table
from search.admin.readable import readable
from training.admin import empty
from training.admin.links import launch_link, link
from training.admin.question_set_pages import QuestionSetPages
from training.models import Question, QuestionSet

SHOWN = 50
"""Rows of duplicates and of unknown answers on the page of a set."""


@admin.register(QuestionSet)
class QuestionSetAdmin(QuestionSetPages, ReadOnlyAdmin):
    """Versions of question sets."""

    when_empty = empty.QUESTION_SETS
    list_display = ("name", "version", "knowledge_base", "count", "splits_shown", "author", "created")
    list_display_links = ("name", "version")
    list_filter = ("knowledge_base", "name")
    search_fields = ("name", "content_hash")
    list_select_related = ("knowledge_base", "author")
    fields = readonly_fields = (
        "knowledge_base", "name", "version", "count", "splits_shown", "its_questions", "its_evaluations", "changes",
        "duplicates", "unknown_answers", "source", "author", "content_hash", "created",
    )  # fmt: skip

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Sets are imported by accounts with the right to add them."""
        return super(ReadOnlyAdmin, self).has_add_permission(request)

    @display(description="Changes")
    def changes(self, question_set: QuestionSet) -> SafeString:
        """A link to what changed since the version before."""
        address = reverse("admin:training_questionset_changes", args=[question_set.pk])
        words = "What changed since the version before"
        return format_html(
            '<a class="text-primary-600 underline dark:text-primary-500" href="{}">{}</a>', address, words
        )

    @display(description="Questions that say the same")
    def duplicates(self, question_set: QuestionSet) -> SafeString | str:
        """The pairs that the import found, those of different splits first."""
        found = (question_set.checks or {}).get("duplicates", {})
        rows = [
            (_placed(pair["first"]), _placed(pair["second"]), f"{pair['kind']} ({pair['likeness']:.2f})")
            for pair in found.get("shown", [])[:SHOWN]
        ]
        return table(("Question", "is near to", "How"), rows) if rows else "none known"

    @display(description="Answers that are no entities")
    def unknown_answers(self, question_set: QuestionSet) -> SafeString | str:
        """The answers that the release of the import did not have, with the nearest ids."""
        found = (question_set.checks or {}).get("answers", {})
        rows = [
            (one["answer"], one["nearest"] or "–", ", ".join(one["questions"]))
            for one in found.get("shown", [])[:SHOWN]
        ]
        return table(("Answer", "Nearest id", "Questions"), rows) if rows else "none known"

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
        """Links to the evaluations that asked its questions, and to the form that launches one."""
        shown = link("Show its evaluations", "training_evaluation", question_set__id__exact=question_set.pk)
        base = question_set.knowledge_base.name
        chosen = {"knowledge_base": base, "question_set": f"{base}/{question_set.name}@{question_set.version}"}
        return format_html("{} · {}", shown, launch_link("Launch one", "evaluate", **chosen))


@admin.register(Question)
class QuestionAdmin(ReadOnlyAdmin):
    """Questions with their answers."""

    when_empty = empty.QUESTIONS
    list_display = ("text_shown", "identifier", "split", "answers_count", "question_set")
    list_filter = ("question_set",)
    search_fields = ("text", "identifier", "hash")
    list_select_related = ("question_set__knowledge_base",)
    fields = readonly_fields = (
        "question_set", "identifier", "text", "answers_shown", "split", "slices_shown", "grades_shown",
        "hash", "its_searches",
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
        return readable(question.answers)

    @display(description="Slices")
    def slices_shown(self, question: Question) -> SafeString | str:
        """The values that reports slice it by."""
        return readable(question.slices)

    @display(description="Judged entities")
    def grades_shown(self, question: Question) -> SafeString | str:
        """The grades of nodes that people judged; 0 is no answer."""
        return readable(question.grades) if question.grades else "–"

    @display(description="Its searches")
    def its_searches(self, question: Question) -> SafeString:
        """A link to the searches of evaluations that asked it."""
        return link(
            "Show its searches", "search_searchrun", asked_by="evaluations", purpose=question.identifier[:200]
        )  # fmt: skip


def _placed(question: dict[str, str]) -> str:
    return f"{question['text']} ({question['id']}, {question['split'] or 'no split'})"
