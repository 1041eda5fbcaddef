"""States of the judging page: its own script runs, and the gallery answers it with made-up items."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.http import HttpRequest
from django.urls import reverse

from search.views.gallery.made_up import LONG, RIGHT_TO_LEFT
from training.annotation.guidelines import default_guideline
from training.services.annotation.describe import vocabulary
from training.views.annotate import rendered, shown_grades
from training.views.gallery.annotation import Page, queue

Json = dict[str, Any]
_SCRIPTS = ("annotate/store.js", "annotate/sending.js", "annotate/judge.js")
_PATH = [{"name": "Ada Holm", "type": "person"}, {"relation": "directed by", "direction": "in"},
         {"name": "Amber Road", "type": "film"}]  # fmt: skip


def _item(name: str = "Amber Road", notice: str = "", **values: Any) -> Json:
    candidate = {
        "type": "film", "name": name, "aliases": ["Ravveien"], "link": "", "note": "",
        "fields": [{"name": "about", "values": [f"{name} follows a lorry and its driver through one winter night."]},
                   {"name": "languages", "values": ["Norwegian", "Sami"]}],
        "conditions": [{"status": "met", "words": "directed by Ada Holm"}, {"status": "not_met", "words": "year: 1999"},
                       {"status": "unknown", "words": "about a journey"}],
        "paths": [_PATH], "relations": [{"direction": "in", "wording": "written by", "count": 412, "more": False,
                                         "names": ["Ivo Lind", "Bob Berg"]}],
    } | values  # fmt: skip
    question = "Which film by Ada Holm is about a journey?" if name == "Amber Road" else f"{name} {name}?"
    return {"id": 1, "queue": 0, "question": question, "notice": notice, "revision": 0, "candidate": candidate}


def _judging(number: int, items: Sequence[Json] | None, state: str, sentence: str = "", **told: Any) -> Page:
    def made(request: HttpRequest) -> tuple[str, dict[str, Any]]:
        own = queue(number)
        words = vocabulary()
        answer = {
            "items": [one | {"queue": own.pk, "id": own.pk} for one in items or ()], "sentence": sentence,
            "elsewhere": 0, "retired": [],
            "progress": {"items": 40, "done": 12, "retired": 0, "mine": 9, "skipped": 1, "left": 28},
        } | told  # fmt: skip
        parts = {} if items is None else {"next": answer}
        return "gallery/judging.html", {
            "queue": own, "grades": shown_grades(words["grades"]),
            "causes": words["causes"], "stages": words["stages"], "guideline": rendered(default_guideline("random")),
            "gallery_scripts": _SCRIPTS, "gallery_data": parts,
            "next": reverse("gallery-data", args=["judging", state, "next"]),
        }  # fmt: skip

    return "", made


def _of(about: str, page: Page) -> Page:
    return about, page[1]


def _loading(request: HttpRequest) -> tuple[str, dict[str, Any]]:
    template, context = _judging(7, None, "loading")[1](request)
    return template, context | {"gallery_scripts": ()}


JUDGING: Mapping[str, Page] = {
    "loading": ("Fetching items", _loading),
    "one": _of("An item", _judging(1, [_item()], "one")),
    "bare": _of("A candidate without fields or paths", _judging(
        2, [_item(fields=[], conditions=[], paths=[], relations=[], aliases=[], note="No path leads to it.")], "bare")),
    "dropped": _of("Its release has been dropped", _judging(
        3, [_item(notice="The release films-2 has been dropped since this queue was made. You see the copy that was "
                         "kept, and your judgement is kept with it.")], "dropped")),
    "done": _of("All is judged", _judging(4, [], "done", "You have judged everything here. Thank you.")),
    "elsewhere": _of("Another tab holds the rest", _judging(
        5, [], "elsewhere", "8 items are held by another tab or browser of yours; they are free again 15 minutes after "
                            "its last sign.", elsewhere=8)),
    "error": _of("The site does not answer", _judging(6, None, "error")),
    "long-words": _of("Words that do not fit", _judging(8, [_item(LONG)], "long-words")),
    "right-to-left": _of("From right to left", _judging(9, [_item(RIGHT_TO_LEFT)], "right-to-left")),
}  # fmt: skip
