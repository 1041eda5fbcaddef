"""States of annotation: queues, guideline, agreement, the items with their grades, and corrections."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any
from uuid import UUID

from django.http import HttpRequest

from search.models import KnowledgeBase
from search.views.gallery.kept_states import paged
from search.views.gallery.made_up import LONG, RIGHT_TO_LEFT
from training.annotation.agreement import Coefficient
from training.annotation.final_grades import GradingWay
from training.annotation.guidelines import default_guideline
from training.models import AnnotationQueue, FinalRule
from training.services.annotation.grades import SCALE
from training.views.agreement import SHOWN
from training.views.annotate import rendered
from training.views.shown.agreement import GRADE_WORDS, agreement_shown

Made = tuple[str, dict[str, Any]]
Page = tuple[str, Callable[[HttpRequest], Made]]
Json = Mapping[str, Any]
WHEN = datetime(2026, 3, 1, 9, 30, tzinfo=UTC)
_FAR = 2_000_000_000
"""Added to made-up numbers of rows: no row has them."""


def queue(number: int, name: str = "Lost answers of March", **values: Any) -> AnnotationQueue:
    """Return a made-up queue that no database holds."""
    base = KnowledgeBase(pk=_FAR, name="films", title="Films")
    return AnnotationQueue(pk=_FAR + number, knowledge_base=base, name=name, items_count=40, **values)


def _row(number: int, name: str = "Lost answers of March", done: int = 12, items: int = 40, **values: Any) -> Any:
    progress = {"items": items, "done": done, "mine": done, "left": items - done, "assigned": number == 1 and 20}
    filling = "12 questions are being searched; then there is something to judge."
    return queue(number, name, **values), progress, "now", filling if values.get("state") == "filling" else ""


def _queues(*rows: Any) -> Callable[[HttpRequest], Made]:
    context = {"shown": rows, "open_state": AnnotationQueue.State.OPEN, "may_make": True}
    return lambda _: ("training/annotate/queues.html", context)


QUEUES: Mapping[str, Page] = {
    "empty": ("No queue yet", _queues()),
    "one": ("One queue", _queues(_row(1))),
    "many": (
        "Several, one is closed",
        _queues(
            _row(1),
            _row(2, "Close calls", 0, 2_000, overlap=1),
            _row(3, "A random sample", 40, state="closed"),
            _row(4, "Questions of the museum", 0, 1, state="filling"),
        ),
    ),
    "long-words": ("Words that do not fit", _queues(_row(1, LONG, 5_000, 10_000))),
    "right-to-left": ("From right to left", _queues(_row(1, RIGHT_TO_LEFT))),
}


def _guideline(text: str, name: str = "Lost answers of March") -> Callable[[HttpRequest], Made]:
    return lambda _: ("training/annotate/guideline.html", {"queue": queue(1, name), "guideline": rendered(text)})


GUIDELINES: Mapping[str, Page] = {
    "one": ("How to judge", _guideline(default_guideline("lost"))),
    "long-words": ("Words that do not fit", _guideline(f"## {LONG}\n\n{LONG}\n\n- `{LONG}`", LONG)),
}


def _value(value: float | None, why: str = "") -> Json:
    found = Coefficient(value, value and value - 0.12, value and min(1.0, value + 0.09), 31, why)
    return found.to_json()


def _report(names: Sequence[str], value: float | None = 0.71, models: Sequence[str] = ()) -> Json:
    why = "" if value is not None else "no item was graded by two people"
    pair = {"items": 31, "same": 24, "quadratic": _value(value, why), "linear": _value(value, why)}
    return {
        "items": 40, "graded": 36 if names else 0, "paired": 31 if value else 0,
        "differ": 7 if value else 0, "grades": 67,
        "meaning": "People agree well enough for tentative conclusions." if value else "Nothing can be said yet.",
        "alpha": {"ordinal": _value(value, why), "nominal": _value(value and value - 0.1, why)},
        "graders": [{"name": name, "graded": 30, "mean": 1.7} for name in names],
        "pairs": [pair | {"a": a, "b": b} for at, a in enumerate(names) for b in names[at + 1 :]],
        "by_grade": [{"grade": at, "given": 17 - at if names else 0, "share": 0.25 if names else 0.0,
                      "alpha": _value(value, why)} for at in range(4)],
        "models": [{"name": name, "graded": 40, "without": _value(value), "with": _value(0.6), "final": pair,
                    "people": [pair | {"name": other} for other in names]} for name in models],
    }  # fmt: skip


def _agreement(report: Json, name: str = "Lost answers of March") -> Callable[[HttpRequest], Made]:
    def made(_: HttpRequest) -> Made:
        shown = agreement_shown(report)
        context = {
            "queue": queue(1, name), "shown": shown,
            "rule": FinalRule(rule=FinalRule.Rule.choices[0][0], relevant_from=2),
            "alphas": (("steps of a scale (ordinal)", shown.ordinal), ("names (nominal)", shown.nominal)),
            "rules": FinalRule.Rule.choices, "grade_words": GRADE_WORDS, "question_set": None, "open": 3,
            "decided": 4, "alone": 5,
            "models": [SimpleNamespace(name=one.name) for one in shown.models], "may_launch": True,
            "may_make_set": True,
        }  # fmt: skip
        return "training/annotate/agreement.html", context

    return made


AGREEMENT: Mapping[str, Page] = {
    "empty": ("Nobody has judged yet", _agreement(_report([], None))),
    "two": ("Two people", _agreement(_report(["ada", "bob"]))),
    "many": (
        "Six people and a model",
        _agreement(_report(["ada", "bob", "cem", "dag", "eva", "fay"], 0.82, ["gemma"])),
    ),
    "long-words": ("Words that do not fit", _agreement(_report([LONG, f"{LONG} 2"], 0.4, [LONG]), LONG)),
    "right-to-left": ("From right to left", _agreement(_report([RIGHT_TO_LEFT, "bob"]), RIGHT_TO_LEFT)),
}


def _graded(number: int, name: str, way: str, grade: int | None) -> Any:
    def given(grader: str, mark: int | None, note: str = "", informed: bool = False) -> Any:
        judgement = SimpleNamespace(informed=informed, cause="", note=note, expected=[])
        return SimpleNamespace(grader=grader, grade=mark, blind=0 if informed else mark, judgement=judgement)

    item = SimpleNamespace(pk=_FAR + number, question=f"Which film by {name} is about a journey?", node_id="film/1",
                           node_name=name, node_type="film")  # fmt: skip
    several = [given("ada", 3), given("bob", 1, f"{name}: the journey is only its end."), given("gemma", None)]
    one = SimpleNamespace(
        item=item, given=[*([] if way == GradingWay.SINGLE else several), given("cem", grade or 2, informed=True)],
        final=SimpleNamespace(grade=grade, way=way),
        adjudication=SimpleNamespace(adjudicator_name="eva", note="It is a journey all the same."),
    )  # fmt: skip
    question = SimpleNamespace(known=["film/1"], corrects=True, answers=["film/1"], rejected=["film/2"],
                               against_ranking=True)  # fmt: skip
    return one, question, number == 2


def _items(show: str, *listed: Any) -> Callable[[HttpRequest], Made]:
    graders = {
        name: SimpleNamespace(name=name, model="gemma" if name == "gemma" else "")
        for name in ("ada", "bob", "cem", "gemma")
    }
    context = {
        "queue": queue(1), "page": paged(listed, 30), "listed": listed, "show": show, "shows": SHOWN, "scale": SCALE,
        "grade_words": GRADE_WORDS, "graders": graders, "kept": "", "rule": None,
    }  # fmt: skip
    return lambda _: ("training/annotate/disagreements.html", context)


ITEMS: Mapping[str, Page] = {
    "empty": ("Nobody disagrees", _items("differ")),
    "many": (
        "Open, decided by a rule, decided by a person",
        _items("differ", _graded(1, "Amber Road", "tie", None), _graded(2, "Tarn", "median", 2),
               _graded(3, "Low Tide", "adjudicated", 3)),
    ),
    "one": ("One person has graded it", _items("all", _graded(1, "Amber Road", GradingWay.SINGLE, 2))),
    "long-words": ("Words that do not fit", _items("all", _graded(1, LONG, "tie", None))),
    "right-to-left": ("From right to left", _items("all", _graded(1, RIGHT_TO_LEFT, "median", 2))),
}  # fmt: skip


def _corrections(*questions: str, learned: bool = False) -> Callable[[HttpRequest], Made]:
    rows = [
        SimpleNamespace(pk=_FAR + at, question=text, knowledge_base="films", answers=[1, 2], rejected=[3],
                        queue=queue(1), changed=WHEN, author="ada")
        for at, text in enumerate(questions)
    ]  # fmt: skip
    told = {"pipeline": "grasp", "pipeline_version": 2, "learner": "weights",
            "sentence": "3 of 4 corrected questions have an answer in the first place now, 1 before."}  # fmt: skip
    kept = [(SimpleNamespace(pk=UUID(int=1), knowledge_base="films", created=WHEN), told)] if learned else []
    context = {"page": paged(rows), "learned": kept, "bases": ["films"] if rows else [], "may_launch": True,
               "may_delete": True}  # fmt: skip
    return lambda _: ("training/annotate/corrections.html", context)


CORRECTIONS: Mapping[str, Page] = {
    "empty": ("None yet", _corrections()),
    "many": ("Several, and what was learned", _corrections("Who directed “Tarn”?", "Who wrote it?", learned=True)),
    "long-words": ("Words that do not fit", _corrections(LONG, learned=True)),
    "right-to-left": ("From right to left", _corrections(RIGHT_TO_LEFT)),
}
