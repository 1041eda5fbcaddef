"""What the settings name exists, or a check says which name leads nowhere; nothing heavy is imported to find out."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from typing import Any

import pytest
from django.core.checks import CheckMessage

from search import checks
from search.domain.flow import stage
from search.domain.options import option
from tests.search import small

WHERE = "tests.search.small"
TEXT = small.PIPELINES["text"]["STAGES"]


def ids(found: list[CheckMessage]) -> list[str | None]:
    return [message.id for message in found]


def test_the_sites_own_settings_name_nothing_that_is_not_there() -> None:
    assert checks.check_tools() + checks.check_pipelines() + checks.check_health() == []


def test_looking_imports_no_torch() -> None:
    looked = (
        "import sys, django; django.setup(); from django.core.checks import run_checks; run_checks(); "
        "sys.exit(' '.join(sorted({'torch', 'transformers', 'sentence_transformers'} & sys.modules.keys())) or 0)"
    )
    result = subprocess.run([sys.executable, "-c", looked], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr


def test_a_tool_without_a_row_is_e001(settings: Any) -> None:
    settings.GRASP_TOOLS = {name: row for name, row in settings.GRASP_TOOLS.items() if name != "encoder"}
    [fault] = checks.check_tools()
    assert (fault.id, "'encoder'" in fault.msg) == ("search.E001", True)


@pytest.mark.parametrize("path", ["", "nodots", "no.such.module.Thing", "search.nothing.Thing", "search.wiring.Thing"])
def test_a_backend_that_is_not_there_is_e002(settings: Any, path: str) -> None:
    settings.GRASP_TOOLS = settings.GRASP_TOOLS | {"extra": {"BACKEND": path}}
    [fault] = checks.check_tools()
    assert (fault.id, repr(path) in fault.msg) == ("search.E002", True)


@pytest.mark.parametrize(
    ("change", "expected", "said"),
    [
        ({"TITLE": None}, "search.E003", "it has no TITLE"),
        ({"BACKEND": "search.pipelines.nowhere.search"}, "search.E003", "search.pipelines.nowhere"),
        ({"STAGES": {"retrieve": {"BACKEND": f"{WHERE}.Nothing"}}}, "search.E003", "has no 'Nothing'"),
        ({"STAGES": {"retrieve": {"BACKEND": f"{WHERE}.Find"}}}, "search.E004", "'explain' is not configured"),
        ({"STAGES": TEXT | {"fuse": {"BACKEND": f"{WHERE}.Fuse"}}},
         "search.E004", "has no stage 'fuse'"),
        ({"STAGES": TEXT | {"retrieve": {"BACKEND": f"{WHERE}.Find", "OPTIONS": {"deep": 1}}}},
         "search.E004", "no setting 'retrieve.deep'"),
        ({"STAGES": TEXT | {"retrieve": {"BACKEND": f"{WHERE}.Find", "OPTIONS": {"depth": 0}}}},
         "search.E004", "must be between"),
        ({"OPTIONS": {"graf_share": 0.5}}, "search.E009", "takes no option 'graf_share'"),
        ({"TITLES": {"txet": "Document text"}}, "search.E004", "TITLES has 'txet', which is the name of no list"),
        ({"TITELS": {"text": "Document text"}}, "search.E003", "its key 'TITELS' is none of: TITLE, DESCRIPTION"),
    ],
)  # fmt: skip
def test_a_pipeline_that_cannot_be_composed_says_why(
    small_pipelines: Any, change: dict[str, Any], expected: str, said: str
) -> None:
    row = {key: value for key, value in (small.PIPELINES["text"] | change).items() if value is not None}
    small_pipelines.GRASP_PIPELINES = small.PIPELINES | {"text": row}
    [fault] = checks.check_pipelines()
    assert (fault.id, said in fault.msg) == (expected, True)


def test_a_default_that_is_no_pipeline_is_e005(small_pipelines: Any) -> None:
    small_pipelines.GRASP_DEFAULT_PIPELINE = "nothing"
    assert ids(checks.check_pipelines()) == ["search.E005"]


def test_a_check_of_health_that_is_not_there_is_e006(settings: Any) -> None:
    settings.GRASP_HEALTH = {"postgres": "grasp_site.health.nothing"}
    settings.GRASP_WARM_UP = {"search": ["nowhere.warm_up"]}
    assert ids(checks.check_health()) == ["search.E006", "search.E006"]


def test_a_kind_of_job_that_is_not_there_is_e011(settings: Any) -> None:
    assert checks.check_jobs() == []
    settings.GRASP_JOBS = {"count": {"KIND": "search.jobs.count.CountJob"}, "index": {"TITLE": "Index"}}
    settings.GRASP_QUESTION_SETS = "training.services.question_sets.nothing"
    assert ids(checks.check_jobs()) == ["search.E011", "search.E011", "search.E011"]


def test_a_pipeline_whose_tool_is_missing_is_not_available(small_pipelines: Any) -> None:
    small_pipelines.GRASP_TOOLS = {"nodes": {"BACKEND": "search.adapters.nowhere.Nodes"}}
    assert checks.faults_of_pipeline("text") == [
        "'search.adapters.nowhere.Nodes' leads nowhere: there is no module 'search.adapters.nowhere'."
    ]


@dataclass(frozen=True)
class Misspelt:
    """A stage that asks for a tool which nobody has."""

    vectros: Any
    depth: int = option(10, "How many are kept.")


class Plain:
    """No dataclass."""


@dataclass(frozen=True)
class NoRoles:
    """Stages without roles."""

    retrieve: Any
    explain: Any = stage("explan")  # type: ignore[arg-type]


VARIANTS = {"VARIANTS": {"one": {"BACKEND": f"{WHERE}.Find"}, "none": None}, "DEFAULT": "one"}


@pytest.mark.parametrize(
    ("change", "expected", "said"),
    [
        ({"STAGES": TEXT | {"retrieve": {"BACKEND": f"{__name__}.Misspelt"}}}, "search.E009",
         "Misspelt has the field 'vectros', which is neither an option nor a tool; did you mean 'vectors'?"),
        ({"STAGES": TEXT | {"retrieve": {"VARIANTS": {"a": {"BACKEND": f"{WHERE}.Find"},
                                                      "b": {"BACKEND": f"{__name__}.Misspelt"}}, "DEFAULT": "a"}}},
         "search.E009", "'vectros'"),
        ({"STAGES": TEXT | {"retrieve": {"BACKEND": f"{__name__}.Plain"}}}, "search.E009", "Plain is no dataclass"),
        ({"STAGES": TEXT | {"retrieve": VARIANTS | {"DEFAULT": "two"}}}, "search.E003",
         "the DEFAULT of the stage 'retrieve' is 'two', which is none of: one, none."),
        ({"STAGES": TEXT | {"retrieve": VARIANTS}}, "search.E004",
         "the stage 'retrieve' has a variant without a stage, but the pipeline cannot do without it."),
        ({"STAGES": TEXT | {"retrieve": {"VARIANTS": {"a": {"BACKEND": f"{WHERE}.Find", "OPTIONS": {"deep": 1}}},
                                         "DEFAULT": "a"}}}, "search.E004", "no setting 'retrieve.deep'"),
    ],
)  # fmt: skip
def test_a_stage_that_nothing_would_fill_is_refused_with_class_and_field(
    small_pipelines: Any, change: dict[str, Any], expected: str, said: str
) -> None:
    small_pipelines.GRASP_PIPELINES = small.PIPELINES | {"text": small.PIPELINES["text"] | change}
    [fault] = checks.check_pipelines()
    assert (fault.id, said in fault.msg) == (expected, True), fault.msg
    assert checks.faults_of_pipeline("text")


def test_a_stage_without_a_role_or_with_one_that_does_not_exist_is_e010(small_pipelines: Any) -> None:
    small_pipelines.GRASP_PIPELINES = small.PIPELINES | {
        "text": small.PIPELINES["text"] | {"STAGES_CLASS": f"{__name__}.NoRoles"}
    }
    first, second = checks.check_pipelines()
    assert (first.id, second.id) == ("search.E010", "search.E010")
    assert "NoRoles.retrieve declares no role" in first.msg
    assert "NoRoles.explain has the role 'explan', which is none of: plan, link" in second.msg
