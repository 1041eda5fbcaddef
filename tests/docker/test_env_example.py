import os
import re
import subprocess
from pathlib import Path

import pytest

from grasp_site.env_example import MARK, PAGE, example
from grasp_site.setting_names import EXAMPLE, known_names, names_of, wrong_names
from tests.containers import compose

TEXT = EXAMPLE.read_text(encoding="utf-8")
BY_HAND, _, GENERATED = TEXT.partition(MARK)
# Read by Compose itself.
OF_COMPOSE = {"COMPOSE_PROFILES"}


def test_the_settings_are_those_of_the_page_of_settings() -> None:
    wanted = example(TEXT, PAGE.read_text(encoding="utf-8"))
    assert wanted == TEXT, "python -m grasp_site.env_example writes the file anew"


def test_every_variable_of_the_compose_files_is_explained_and_no_other() -> None:
    used: set[str] = set()
    for file in ("try.yml", "full.yml"):
        compose(file, used=used)
    assert names_of(BY_HAND) - OF_COMPOSE == used - names_of(GENERATED)


def test_every_variable_has_an_explanation() -> None:
    for block in TEXT.split("\n\n"):
        if names := names_of(block):
            assert re.match(r"# [A-Z*a-z]", block), names


def test_the_file_can_be_used_as_it_is() -> None:
    """Only the domain is set; an empty value counts as none, so that nothing changes by copying the file."""
    assert [line for line in TEXT.splitlines() if line and not line.startswith("#")] == ["GRASP_DOMAIN=localhost"]


@pytest.mark.parametrize(
    ("name", "nearest"),
    [
        ("GRASP_QUEUE_LENGHT", "GRASP_QUEUE_LENGTH"),
        ("GRASP_SEARCH_WORKER", "GRASP_SEARCH_WORKERS"),
        ("DATABSE_URL", "DATABASE_URL"),
        ("SECRET_KEY_FIEL", "SECRET_KEY_FILE"),
        ("NEO4J_URI", "NEO4J_URL"),
    ],
)
def test_a_wrong_name_is_told_with_the_nearest_right_one(name: str, nearest: str) -> None:
    [sentence] = wrong_names([name], known_names()).values()
    assert sentence == f"{name} is not a setting, so it has no effect; the nearest setting is {nearest}."


def test_a_name_of_ours_that_resembles_nothing_is_told_too() -> None:
    [sentence] = wrong_names(["GRASP_XYZZY_QUUX_7"], known_names()).values()
    assert "docker/env.example lists all settings" in sentence


def test_names_of_other_programs_are_no_fault() -> None:
    others = ["PATH", "HOSTNAME", "LANG", "PYTHONPATH", "DEBUGGER", "VIRTUAL_ENV", "GRASP_HOME", "SECRET_KEY_FILE"]
    assert wrong_names(others, known_names()) == {}


def test_without_the_list_nothing_is_a_fault() -> None:
    assert wrong_names(["GRASP_QUEUE_LENGHT"], []) == {}


def test_the_script_makes_each_secret_once_and_closes_the_folder(tmp_path: Path) -> None:
    script = tmp_path / "make-secrets.sh"
    script.write_bytes((EXAMPLE.parent / "make-secrets.sh").read_bytes())
    first = subprocess.run(["sh", str(script)], check=True, capture_output=True, text=True).stdout
    folder = tmp_path / "secrets"
    made = {path.name: path.read_text(encoding="utf-8") for path in folder.iterdir()}
    again = subprocess.run(["sh", str(script)], check=True, capture_output=True, text=True).stdout
    assert len(first.splitlines()) == len(made)
    assert again == ""
    assert {path.name: path.read_text(encoding="utf-8") for path in folder.iterdir()} == made
    assert folder.stat().st_mode & 0o777 == 0o700
    place = "@postgres:5432/grasp"
    assert made["database_url"] == f"postgresql://grasp:{made['database_password']}{place}"
    assert made["database_superuser_url"] == f"postgresql://app:{made['postgres_password']}{place}"
    # As an earlier version made it; an address of one's own stays.
    for earlier, now in ((made["database_superuser_url"], made["database_url"]), ("postgresql://me:x@db/grasp",) * 2):
        (folder / "database_url").unlink()
        (folder / "database_url").write_text(earlier, encoding="utf-8")
        subprocess.run(["sh", str(script)], check=True, capture_output=True)
        assert (folder / "database_url").read_text(encoding="utf-8") == now
    assert made["valkey.conf"] == f"requirepass {made['valkey_password']}\n"
    assert len(made["secret_key"]) == 64
    assert os.access(folder / "secret_key", os.R_OK)
