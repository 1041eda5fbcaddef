import os
import subprocess
import sys
from pathlib import Path

import pytest

from grasp_site.embedded.commands import missing_services, needs_services
from grasp_site.embedded.home import Home
from tests.grasp_site.embedded.conftest import PROJECT, processes_of, wait_for


def manage(home: Home, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if name not in {"DATABASE_URL", "REDIS_URL"}}
    return subprocess.run(
        [sys.executable, "manage.py", *arguments],
        cwd=PROJECT,
        env={**environment, "GRASP_HOME": str(home.root), **variables},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


@pytest.mark.parametrize("arguments", [[], ["help"], ["check"], ["ask", "--help"], ["--version"], ["collectstatic"]])
def test_commands_without_a_database_start_nothing(arguments: list[str]) -> None:
    assert not needs_services(arguments)


@pytest.mark.parametrize("arguments", [["ask", "movies", "who?"], ["migrate"], ["import_kb", "folder"], ["shell"]])
def test_commands_with_a_database_need_the_services(arguments: list[str]) -> None:
    assert needs_services(arguments)


def test_an_address_in_the_environment_replaces_its_service(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "url").write_text("postgresql://app:x@db.example/grasp")
    monkeypatch.setenv("DATABASE_URL_FILE", str(tmp_path / "url"))
    assert missing_services() == ["valkey"]


def test_help_leaves_no_database_behind(home: Home) -> None:
    assert manage(home, "help").returncode == 0
    assert not home.postgres.exists()


def test_the_first_command_on_a_bare_home_finds_its_tables_and_leaves_no_process(home: Home) -> None:
    done = manage(home, "shell", "--command", "from search.models import KnowledgeBase as K; print(K.objects.count())")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "0"
    wait_for(lambda: not processes_of(home), "the end of the services")


def test_a_wrong_setting_is_a_sentence_and_exit_1(home: Home) -> None:
    done = manage(home, "check", DATABASE_URL="mysql://app@db.example/grasp")
    assert done.returncode == 1
    assert done.stderr.startswith("DATABASE_URL takes postgresql://")
    assert "Traceback" not in done.stderr
