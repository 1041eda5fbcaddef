import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from grasp_site.documentation.settings_page import settings_page
from grasp_site.every_setting import Setting, every_setting

PROJECT = Path(__file__).resolve().parents[2]
READERS = {"env_str", "env_secret", "env_bool", "env_int", "env_list", "env_read", "env_choice"}


def calls() -> Iterator[tuple[str, str]]:
    """Every variable that the code reads from the environment, with the function that reads it, from syntax trees."""
    for package in ("grasp_site", "search", "training"):
        for path in (PROJECT / package).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in READERS:
                    argument = node.args[0]
                    if isinstance(argument, ast.Constant):
                        yield str(argument.value), node.func.id


def test_the_list_of_settings_names_every_variable_that_is_read_and_no_other() -> None:
    listed = [setting.name for setting in every_setting()]
    assert len(listed) == len(set(listed))
    assert sorted(listed) == sorted({name for name, _ in calls()})


def test_a_setting_is_listed_as_a_secret_where_the_code_reads_it_from_a_file_too() -> None:
    secrets = {name for name, reader in calls() if reader == "env_secret"}
    assert {setting.name for setting in every_setting() if setting.secret} == secrets


@pytest.mark.parametrize("setting", list(every_setting()), ids=lambda setting: setting.name)
def test_every_setting_says_what_it_is(setting: Setting) -> None:
    assert setting.meaning.endswith((".", ")"))
    assert "|" not in setting.meaning


def test_the_page_of_settings_is_what_the_list_makes() -> None:
    page = (PROJECT / "docs" / "settings.md").read_text(encoding="utf-8")
    assert page == settings_page(), "write it anew: manage.py document_settings > docs/settings.md"
