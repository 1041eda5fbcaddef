"""The kind of job in docs/jobs.md is a kind that works as it stands there."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from types import ModuleType

import pytest
from pytest_django.fixtures import Settings

from search.domain.errors import InvalidRequest
from search.models import Job, KnowledgeBase
from search.services.jobs.launch import launch_job
from search.services.jobs.run_here import run_here

DOCS = Path(__file__).resolve().parents[4] / "docs" / "jobs.md"
MODULE = "documented_count"


@pytest.mark.django_db(transaction=True)
def test_the_kind_of_the_docs_counts_and_refuses(
    films: KnowledgeBase, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    code, *_ = re.findall(r"```python\n(.*?)```", DOCS.read_text(encoding="utf-8"), flags=re.DOTALL)
    module = ModuleType(MODULE)
    monkeypatch.setitem(sys.modules, MODULE, module)
    exec(code, module.__dict__)
    settings.GRASP_JOBS = {"count": {"TITLE": "Count", "KIND": f"{MODULE}.CountJob", "QUEUE": "jobs"}}
    with pytest.raises(InvalidRequest, match=r"between 0\.0 and 60\.0"):
        launch_job(kind="count", knowledge_base="films", arguments={"pause": 99})
    job, _ = launch_job(kind="count", knowledge_base="films", here=True)
    counts = run_here(job)
    assert films.active_release is not None
    assert counts == {kind.name: kind.count for kind in films.active_release.snapshot.schema.node_types}
    assert Job.objects.get(pk=job.pk).state == "done"
    assert KnowledgeBase.objects.get(pk=films.pk).description == f"Nodes: {counts}"
