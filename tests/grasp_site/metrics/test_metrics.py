"""`/metrics`: who may read it, what it tells, what is counted, and that no label is a person's."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from django.test import Client
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.registry import CollectorRegistry

from grasp_site.metrics.files import add_up_ended
from grasp_site.metrics.serve import CLOSED, refusal, written
from grasp_site.security import read_networks
from search.models import Job
from search.services.observing.events import JobEnded, LeaseWasLost, ModelCalled, tell

PERSONAL = re.compile("user|account|question|address|session|token_|run_id|request")


def value(name: str, **labels: str) -> float:
    """The value of one series, as Prometheus would read it; 0 if there is none."""
    families = text_string_to_metric_families(written().decode())
    samples = [sample for family in families for sample in family.samples]
    return sum(sample.value for sample in samples if sample.name == name and labels.items() <= sample.labels.items())


def test_strangers_get_a_sentence_until_somebody_opens_it(client: Client) -> None:
    answer = client.get("/metrics")
    assert (answer.status_code, answer.content.decode()) == (403, CLOSED)


@pytest.mark.parametrize(
    ("authorization", "address", "allowed"),
    [
        ("Bearer hush", "8.8.8.8", True),
        ("Bearer hus", "8.8.8.8", False),
        ("hush", "8.8.8.8", False),
        ("Bearer hüsh", "8.8.8.8", False),
        ("", "10.1.2.3", True),
        ("", "::ffff:10.1.2.3", True),
        ("", "11.1.2.3", False),
        ("", "", False),
    ],
)
def test_the_token_or_the_network_opens_it(settings, authorization: str, address: str, allowed: bool) -> None:
    settings.GRASP_METRICS_TOKEN, settings.GRASP_METRICS_NETWORKS = "hush", read_networks("10.0.0.0/8")
    assert (not refusal(authorization, address)) is allowed


@pytest.mark.django_db
def test_it_tells_the_state_of_the_site_in_prometheus_format(client: Client, settings) -> None:
    settings.GRASP_METRICS_NETWORKS = read_networks("127.0.0.1")
    Job.objects.create(kind="index", specification_hash="x", queue="gpu")
    answer = client.get("/metrics")
    assert answer.status_code == 200
    samples = [s for family in text_string_to_metric_families(answer.content.decode()) for s in family.samples]
    found = {(s.name, *sorted(s.labels.values())): s.value for s in samples}
    assert found["grasp_queue_length", "gpu"] == 1
    assert found["grasp_jobs", "index", "queued"] == 1
    assert found["grasp_service_up", "postgres"] == 1
    assert found["grasp_disk_bytes",] > found["grasp_disk_free_bytes",] > 0
    assert {name for name, *_ in found} >= {
        "grasp_alerts",
        "grasp_files",
        "grasp_postgres_connections",
        "grasp_workers",
    }
    assert [s for s in samples if any(PERSONAL.search(label) for label in s.labels)] == []


def test_events_are_counted() -> None:
    before = {kind: value("grasp_model_tokens_total", model="m", kind=kind) for kind in ("prompt", "completion")}
    calls, price = value("grasp_model_calls_total", model="m", outcome="answered"), value("grasp_model_price_total")
    lost = value("grasp_lost_leases_total", kind="index")
    jobs = value("grasp_job_seconds_sum", kind="index", state="done")
    tell(ModelCalled("m", "plan", {"prompt": 20, "completion": 3}, 0.5, "", 0.25, "EUR"))
    tell(ModelCalled("m", "plan", {}, 0.5, "It did not answer."))
    tell(LeaseWasLost("index"))
    tell(JobEnded(Job(kind="index"), "done", 100.0, 112.5))
    assert value("grasp_model_tokens_total", model="m", kind="prompt") == before["prompt"] + 20
    assert value("grasp_model_tokens_total", model="m", kind="completion") == before["completion"] + 3
    assert value("grasp_model_calls_total", model="m", outcome="answered") == calls + 1
    assert value("grasp_model_price_total") == price + 0.25
    assert value("grasp_lost_leases_total", kind="index") == lost + 1
    assert value("grasp_job_seconds_sum", kind="index", state="done") == jobs + 12.5


COUNT = """
import os, sys
os.environ["PROMETHEUS_MULTIPROC_DIR"] = sys.argv[1]
from prometheus_client import Counter, Histogram
Counter("things", "Things.", ["kind"]).labels("a").inc(2)
Histogram("seconds", "Seconds.", buckets=(1, 5)).observe(3)
"""


def test_what_ended_processes_counted_is_kept_in_few_files(tmp_path: Path) -> None:
    for _ in range(3):
        subprocess.run([sys.executable, "-c", COUNT, str(tmp_path)], check=True)
    assert len(list(tmp_path.glob("*.db"))) == 6
    add_up_ended(tmp_path)
    assert sorted(path.name for path in tmp_path.glob("*.db")) == ["counter_ended.db", "histogram_ended.db"]
    add_up_ended(tmp_path)
    registry = CollectorRegistry()
    MultiProcessCollector(registry, str(tmp_path))
    assert registry.get_sample_value("things_total", {"kind": "a"}) == 6
    assert registry.get_sample_value("seconds_sum") == 9
    assert registry.get_sample_value("seconds_bucket", {"le": "5.0"}) == 3
