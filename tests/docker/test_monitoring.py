"""Dashboard and alert rules name metrics that the site has, with labels that they have."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from prometheus_client import Histogram
from prometheus_client.metrics import MetricWrapperBase

from grasp_site.metrics import counted
from grasp_site.metrics import state as measured

FOLDER = Path(__file__).resolve().parents[2] / "docker" / "monitoring"
OURS = re.compile(r"\bgrasp_[a-z_]+")


def names() -> set[str]:
    """The series that the site has, as Prometheus stores them."""
    found = set(re.findall(r'"(grasp_[a-z_]+)"', Path(str(measured.__file__)).read_text(encoding="utf-8")))
    for metric in vars(counted).values():
        if isinstance(metric, MetricWrapperBase):
            endings = ("_count", "_sum", "_bucket") if isinstance(metric, Histogram) else ("_total",)
            found |= {f"{metric._name}{ending}" for ending in endings}
    return found


def dashboard() -> list[str]:
    panels: list[dict[str, Any]] = json.loads((FOLDER / "grafana-dashboard.json").read_text())["panels"]
    return [target["expr"] for panel in panels for target in panel["targets"]]


def rules() -> list[str]:
    groups = yaml.safe_load((FOLDER / "alert-rules.yml").read_text())["groups"]
    return [rule["expr"] for group in groups for rule in group["rules"]]


@pytest.mark.parametrize("expressions", [dashboard(), rules()], ids=["dashboard", "rules"])
def test_every_metric_of_them_exists(expressions: list[str]) -> None:
    asked = {name for expression in expressions for name in OURS.findall(expression)}
    assert len(asked) > 8
    assert asked - names() == set()


def test_every_metric_is_shown_somewhere() -> None:
    shown = {
        re.sub("_(count|sum|bucket)$", "", name) for text in [*dashboard(), *rules()] for name in OURS.findall(text)
    }
    known = {re.sub("_(count|sum|bucket)$", "", name) for name in names()}
    assert known - shown == {"grasp_info", "grasp_files", "grasp_backup_bytes"}
