"""Imports and indexings that are killed anywhere, or overtaken, end with exactly what an undisturbed one makes.

Each attempt starts a process, so only a few drawn points are hit here; `python -m benchmarks jobs` hits many.
"""

from __future__ import annotations

import random
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from search.adapters.index_files.fetch import BUILDING
from search.models import Job, Release, Snapshot
from search.models.knowledge import BuildStatus
from search.services.jobs.launch import launch_job
from search.services.knowledge.import_snapshot import import_snapshot
from tests.contents import NOTED, content
from tests.search.ingest import bundles

NODES = [
    {"id": f"n{at:04}", "type": "film" if at % 3 else "person", "name": f"Name {at % 70}",
     "fields": {"plot": f"Number {at} walks through wood {at % 7}."}}
    for at in range(160)
]  # fmt: skip
EDGES = [
    {"source": f"n{at * 7 % 160:04}", "relation": ("SEEN_BY", "MADE_BY")[at % 2], "target": f"n{at * 13 % 160:04}"}
    for at in range(360)
]
KILLS = 2
SEED = 20261122
_CALM: list[tuple[int, dict[str, Any]]] = []


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    """A bundle that the processes of a test read."""
    return bundles.write(tmp_path / "films", NODES, EDGES)


def launched(kind: str, **arguments: Any) -> Job:
    knowledge_base = arguments.pop("knowledge_base", "")
    job, new = launch_job(kind=kind, knowledge_base=knowledge_base, arguments=arguments)
    assert new
    return job


@contextmanager
def worked_on(job: Job, environment: dict[str, str], stop_at: int, encoder: str) -> Iterator[subprocess.Popen[str]]:
    """Work on a job in another process; its first line of output says whether it has stopped or ended."""
    # The lease of a process that was killed would end some seconds later, and many deaths would end the job.
    Job.objects.filter(pk=job.pk).update(lease_until="2000-01-01T00:00:00Z", deaths=0)
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.killed_job", str(job.pk), str(stop_at), encoder],
        env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def first_line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    line = process.stdout.readline()
    assert line, process.communicate()[1]
    return line


def undisturbed(job: Job, environment: dict[str, str], encoder: str) -> int:
    """Work on a job to its end; return how many points there are."""
    with worked_on(job, environment, 0, encoder) as process:
        return int(first_line(process).split()[1])


def calm(bundle: Path, environment: dict[str, str]) -> tuple[int, dict[str, Any]]:
    """Return the points of an undisturbed import and what it makes. They are the same for every test of this file."""
    if not _CALM:
        points = undisturbed(launched("import", source=str(bundle), name="calm"), environment, "hash@1")
        _CALM.append((points, content("calm")))
    return _CALM[0]


def killed_often(job: Job, environment: dict[str, str], encoder: str, points: int, draw: random.Random) -> int:
    """Kill the work on a job at drawn points, then work on it to its end; return how often it was killed."""
    kills = 0
    for _ in range(KILLS):
        # Half the kills hit the beginning of an attempt, where it takes over what the one before has left.
        stop_at = draw.randint(1, points if draw.random() < 0.5 else points // 4)
        with worked_on(job, environment, stop_at, encoder) as process:
            if first_line(process) != "here\n":
                return kills
            process.kill()
            kills += 1
    undisturbed(job, environment, encoder)
    return kills


def assert_nothing_is_left_over(base: str) -> None:
    """Exactly one release and one whole snapshot; no tables or folders without an owner."""
    assert Release.objects.filter(knowledge_base__name=base).count() == 1
    ready = Snapshot.objects.filter(knowledge_base__name=base, status=BuildStatus.READY)
    assert ready.count() == 1
    assert not Snapshot.objects.filter(knowledge_base__name=base, status=BuildStatus.BUILDING).exists()
    left = [path.name for path in ready.get().directory.glob(".*") if not path.name.endswith(NOTED)]
    # The lock of builders stays; nobody holds it.
    assert left in ([], [BUILDING])


@pytest.mark.django_db(transaction=True)
def test_an_import_killed_anywhere_ends_like_an_undisturbed_one(bundle: Path, web_environment: dict[str, str]) -> None:
    draw = random.Random(SEED)
    points, made = calm(bundle, web_environment)
    job = launched("import", source=str(bundle), name="stormy")
    assert killed_often(job, web_environment, "hash@2", points, draw) >= KILLS // 2
    job.refresh_from_db()
    assert job.state == Job.State.DONE
    assert_nothing_is_left_over("stormy")
    assert content("stormy") == made


@pytest.mark.django_db(transaction=True)
def test_an_indexing_killed_anywhere_ends_like_an_undisturbed_one(
    bundle: Path, web_environment: dict[str, str]
) -> None:
    draw = random.Random(SEED + 1)
    for name in ("calm", "stormy"):
        import_snapshot(source=bundle, name=name, index=False, activate=False)
    points = undisturbed(launched("index", knowledge_base="calm", activate=True), web_environment, "hash@1")
    job = launched("index", knowledge_base="stormy", activate=True)
    assert killed_often(job, web_environment, "hash@2", points, draw) >= KILLS // 2
    assert_nothing_is_left_over("stormy")
    assert content("stormy") == content("calm")


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("share", [0.3, 0.9])
def test_an_owner_that_slept_past_its_lease_writes_nothing(
    bundle: Path, web_environment: dict[str, str], share: float
) -> None:
    points, calmly = calm(bundle, web_environment)
    job = launched("import", source=str(bundle), name="overtaken")
    with worked_on(job, web_environment, max(1, int(share * (points - 1))), "hash@2") as old:
        assert first_line(old) == "here\n"
        undisturbed(job, web_environment, "hash@2")
        made = content("overtaken")
        old.communicate("")
        assert old.returncode == 1
    assert made == content("overtaken") == calmly
    assert_nothing_is_left_over("overtaken")
