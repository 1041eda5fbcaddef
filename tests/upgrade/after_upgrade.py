"""Run by `test_upgrade.py` over the database of an earlier release: migrates it, asks and reads pages, prints JSON."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import django
from django.conf import settings
from django.core.management import call_command
from django.test import Client


def main(expected: dict[str, Any]) -> dict[str, Any]:
    """Return what is different after the migrations: the search again, and the status of pages and API."""
    django.setup()
    from django.contrib.auth import get_user_model

    from search.models import Job, SearchRun
    from search.services.searches.describe_search import describe_search
    from search.services.searches.request_search import request_search
    from search.services.searches.run_search import run_search

    settings.GRASP_TOOLS["encoder"] = {"BACKEND": "tests.fakes.HashEncoder"}
    settings.ALLOWED_HOSTS = ["testserver"]
    call_command("migrate", interactive=False, verbosity=0)
    run = request_search(
        knowledge_base="films", question=expected["question"], origin=SearchRun.Origin.PAGE, enqueue=False
    )  # fmt: skip
    shown = describe_search(run_search(run.pk))
    client = Client(raise_request_exception=False)
    client.force_login(get_user_model().objects.get(username=expected["user"]))
    job = Job.objects.latest("created")
    pages = [
        "/", f"/search/{expected['run']}/", f"/search/{expected['run']}/trace/", "/kb/films/nodes/f1/", "/evaluations/",
        "/admin/", f"/admin/search/job/{job.pk}/change/", "/admin/search/release/", "/admin/training/questionset/",
        f"/api/v1/searches/{expected['run']}/", "/api/v1/knowledge-bases/films/", "/api/v1/question-sets/",
    ]  # fmt: skip
    answers = {page: client.get(page) for page in pages}
    recorded = answers[f"/api/v1/searches/{expected['run']}/"].json()
    return {
        "pages": {page: answer.status_code for page, answer in answers.items()},
        "results": [[result["node"]["id"], result["score"]] for result in shown["results"]],
        "plan": shown["plan"],
        "recorded": [[result["node"]["id"], result["score"]] for result in recorded["results"]],
        "shown": expected["question"] in answers[f"/search/{expected['run']}/"].content.decode(),
        "job": job.state,
        "missing": call_missing(),
    }


def call_missing() -> bool:
    """Whether models differ from the migrations."""
    try:
        call_command("makemigrations", "search", "training", check=True, dry_run=True, verbosity=0)
    except SystemExit:
        return True
    return False


if __name__ == "__main__":
    sys.stdout.write(json.dumps(main(json.loads(Path(sys.argv[1]).read_bytes()))))
