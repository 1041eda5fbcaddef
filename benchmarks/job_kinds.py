"""Every kind of job on a small knowledge base of its own, with everything that it leaves behind, to be compared."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from django.conf import settings

from search.adapters.graph_neo4j.address import Address
from search.adapters.graph_neo4j.connection import connect
from search.adapters.graph_neo4j.project import markers
from search.models import Artifact, Job, KnowledgeBase, PipelineVersion, SearchRun, SearchStep
from search.services.jobs.launch import launch_job
from search.services.knowledge.delete_knowledge_base import delete_knowledge_base
from search.services.knowledge.import_snapshot import import_snapshot
from search.services.knowledge.sync_graph import check_graph, remove_graph
from tests.contents import content, digests
from tests.search.ingest import bundles
from tests.training import makers
from training.data.examples import Example
from training.models import ChosenOptions, Evaluation, Outcome
from training.services.question_sets import register_questions

NODES, EDGES = 3_000, 9_000
PIPELINES = ("grasp", "hybrid")
VOLATILE = frozenset(
    (
        "seconds",
        "latency_ms",
        "latency",
        "evaluation",
        "artifact",
        "asked_at_once",
        "created",
        "code_version",
        "code_versions",
        "stages",
        "snapshot",
        "embedded",
        "reused",
    )
)
"""Keys of a report that hold times, ids, the number of processes, or how many vectors another base had."""


class Storm:
    """A kind of job that is launched again and again on one knowledge base."""

    kind = ""
    arguments: Mapping[str, Any] = {}
    questions = ""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.base = f"storm-{self.kind.replace('_', '-')}"

    @property
    def row(self) -> KnowledgeBase:
        """The row of its knowledge base."""
        return KnowledgeBase.objects.get(name=self.base)

    def prepare(self) -> None:
        """Make what every job of this kind needs; called once."""

    def ready(self) -> None:
        """Make what one job needs."""

    def launch(self) -> Job:
        """Launch the job."""
        job, new = launch_job(
            kind=self.kind, knowledge_base=self.base, question_set=self.questions, arguments=self.arguments
        )
        assert new
        return job

    def state(self, job: Job) -> Any:
        """Return everything that the job has left behind, without ids and times."""
        raise NotImplementedError

    def active(self) -> bool:
        """Return whether something of the job is in use, which must not be after it was cancelled."""
        raise NotImplementedError

    def clean(self) -> None:
        """Remove everything that the job has left behind."""

    def _delete(self) -> None:
        for base in KnowledgeBase.objects.filter(name=self.base):
            delete_knowledge_base(knowledge_base=base)


class ImportStorm(Storm):
    """Imports a bundle."""

    kind = "import"

    def prepare(self) -> None:
        self._delete()
        self.arguments = {"source": str(film_bundle(self.folder)), "name": self.base}

    def launch(self) -> Job:
        job, new = launch_job(kind=self.kind, arguments=self.arguments)
        assert new
        return job

    def state(self, job: Job) -> Any:
        releases = list(self.row.releases.values_list("number", "status"))
        snapshots = list(self.row.snapshots.values_list("status", "nodes", "edges"))
        return {**content(self.base), "releases": releases, "snapshots": snapshots, "result": plain(job.result)}

    def active(self) -> bool:
        return KnowledgeBase.objects.filter(name=self.base, active_release__isnull=False).exists()

    def clean(self) -> None:
        self._delete()


class IndexStorm(ImportStorm):
    """Indexes a snapshot."""

    kind = "index"

    def prepare(self) -> None:
        self._delete()
        self.arguments = {"activate": True}

    def ready(self) -> None:
        import_snapshot(source=film_bundle(self.folder), name=self.base, index=False, activate=False)

    launch = Storm.launch


class SyncStorm(Storm):
    """Copies a graph into Neo4j."""

    kind = "sync_graph"

    def prepare(self) -> None:
        self._delete()
        import_snapshot(source=film_bundle(self.folder), name=self.base)

    def state(self, job: Job) -> Any:
        known = [(one.knowledge_base, one.state, one.nodes, one.edges) for one in self._markers()]
        return {"markers": known, "differences": check_graph(knowledge_base=self.row).differences}

    def active(self) -> bool:
        return any(marker.state == "whole" for marker in self._markers())

    def clean(self) -> None:
        active = self.row.active_release
        assert active is not None
        remove_graph(knowledge_base=self.base, schema=active.snapshot.schema)

    def _markers(self) -> Sequence[Any]:
        connection = connect(Address.parse(settings.NEO4J_URL))
        return [marker for marker in markers(connection) if marker.knowledge_base == self.base]


class QuestionStorm(Storm):
    """Works on questions about the makers."""

    questions = "asked"

    def prepare(self) -> None:
        self._delete()
        folder = self.folder / "makers"
        shutil.rmtree(folder, ignore_errors=True)
        import_snapshot(source=makers.bundle(folder), name=self.base)
        register_questions(knowledge_base=self.base, examples=asked(), name=self.questions)

    def clean(self) -> None:
        ids = list(Evaluation.objects.filter(knowledge_base=self.row).values_list("pk", flat=True))
        SearchRun.objects.filter(knowledge_base=self.row).delete()
        Evaluation.objects.filter(pk__in=ids).delete()
        PipelineVersion.objects.filter(knowledge_base=self.row).delete()
        for artifact in Artifact.objects.filter(knowledge_base=self.row):
            shutil.rmtree(artifact.directory, ignore_errors=True)
            artifact.delete()

    def active(self) -> bool:
        done = Evaluation.objects.filter(knowledge_base=self.row, status=Evaluation.Status.DONE).exists()
        return done or PipelineVersion.objects.filter(knowledge_base=self.row).exists()

    def versions(self) -> Any:
        """Return the versions of its pipelines and how their options were chosen."""
        artifacts = dict.fromkeys(Artifact.objects.values_list("pk", flat=True), "ARTIFACT")
        rows = PipelineVersion.objects.filter(knowledge_base=self.row).order_by("pipeline", "version")
        known = []
        for one in rows:
            options = {key: artifacts.get(str(value), value) for key, value in one.options.items()}
            note = one.note
            for name in artifacts:
                note = note.replace(name, "ARTIFACT")
            known.append((one.pipeline, one.version, options, one.active, note))
        chosen = ChosenOptions.objects.filter(pipeline_version__knowledge_base=self.row)
        return known, list(chosen.values_list("part", "options", "split", "hashes").order_by("pk"))

    def evaluations(self) -> Any:
        """Return the evaluations with their searches and outcomes."""
        rows = Evaluation.objects.filter(knowledge_base=self.row)
        outcomes = Outcome.objects.filter(evaluation__in=rows)
        runs = SearchRun.objects.filter(knowledge_base=self.row)
        steps = SearchStep.objects.filter(run__in=runs)
        return {
            "evaluations": [(one.status, one.reason, one.questions, plain(one.report)) for one in rows],
            "outcomes": list(
                outcomes.order_by("question__position", "pipeline").values_list(
                    "question__identifier", "pipeline", "state", "error", "rank", "ids", "scores", "measures",
                    "plan_shape", "probability", "lost_at",
                )
            ),
            "without a search": outcomes.exclude(run__in=runs.values("pk")).count(),
            "searches": sorted(runs.values_list("pipeline", "purpose", "status", "question")),
            "steps": sorted(steps.values_list("run__pipeline", "run__purpose", "position", "name", "status")),
        }  # fmt: skip


class EvaluateStorm(QuestionStorm):
    """Evaluates two pipelines."""

    kind = "evaluate"

    def prepare(self) -> None:
        super().prepare()
        output = self.folder / "report"
        self.arguments = {"pipelines": list(PIPELINES), "repeated": 5, "processes": 1, "output": str(output)}

    def ready(self) -> None:
        shutil.rmtree(self.arguments["output"], ignore_errors=True)

    def state(self, job: Job) -> Any:
        files = digests(Path(self.arguments["output"]))
        report = files.pop("report.json", None)
        return self.evaluations() | {"files": files, "report written": report is not None, "result": plain(job.result)}


class TuneStorm(QuestionStorm):
    """Chooses the weights of fusion."""

    kind = "tune"
    arguments = {"split": "train"}

    def state(self, job: Job) -> Any:
        return self.evaluations() | {"versions": self.versions(), "result": plain(job.result)}


class TrainStorm(QuestionStorm):
    """Trains a planner."""

    kind = "train_planner"
    arguments = {"settings": makers.QUICK}

    def state(self, job: Job) -> Any:
        artifacts = [
            (one.kind, plain(one.configuration), plain(one.metrics), one.data_hash, _weights(one.directory))
            for one in Artifact.objects.filter(knowledge_base=self.row)
        ]
        return {"artifacts": artifacts, "versions": self.versions(), "result": plain(job.result)}


STORMS: tuple[type[Storm], ...] = (ImportStorm, IndexStorm, EvaluateStorm, TuneStorm, TrainStorm)


def _weights(folder: Path) -> dict[str, str]:
    """Return the digests of an artifact's files, without those that hold its own id and time."""
    return {name: digest for name, digest in digests(folder).items() if name not in ("files.json", "job.json")}


def plain(value: Any) -> Any:
    """Return JSON without the keys of `VOLATILE`."""
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items() if key not in VOLATILE}
    return [plain(item) for item in value] if isinstance(value, list) else value


def asked() -> list[Example]:
    """Return the questions about the makers: those about the first things are of train, the others of val."""
    first = makers.questions(0, makers.TAUGHT)
    rest = makers.questions(makers.TAUGHT)
    return [
        Example(one.id, one.text, one.answers, split)
        for split, part in (("train", first), ("val", rest)) for one in part
    ]  # fmt: skip


def film_bundle(folder: Path) -> Path:
    """Return the folder of a bundle of films and people, written at the first call."""
    bundle = folder / "films"
    if (bundle / "kb.json").exists():
        return bundle
    nodes = [
        {"id": f"n{at:05}", "type": "film" if at % 3 else "person", "name": f"Name {at % 570}",
         "fields": {"plot": f"Number {at} walks through wood {at % 7}, where nobody had seen {at % 41} before."}}
        for at in range(NODES)
    ]  # fmt: skip
    edges = [
        {"source": f"n{at * 7 % NODES:05}", "relation": ("SEEN_BY", "MADE_BY")[at % 2],
         "target": f"n{(at * 13 + at // NODES) % NODES:05}"}
        for at in range(EDGES)
    ]  # fmt: skip
    return bundles.write(bundle, nodes, edges)
