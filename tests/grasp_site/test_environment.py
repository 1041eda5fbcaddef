from pathlib import Path

import pytest

from grasp_site.environment import SettingError, env_bool, env_int, env_list, env_secret, env_str


def test_an_empty_variable_counts_as_unset(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLOUR", "  ")
    assert env_str("COLOUR", "blue") == "blue"


def test_a_secret_may_lie_in_a_file_that_the_variable_names(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "key").write_text("from the file\n")
    monkeypatch.setenv("KEY_FILE", str(tmp_path / "key"))
    assert env_secret("KEY") == "from the file"


def test_the_variable_itself_goes_before_its_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "key").write_text("from the file")
    monkeypatch.setenv("KEY_FILE", str(tmp_path / "key"))
    monkeypatch.setenv("KEY", "given")
    assert env_secret("KEY") == "given"


def test_a_secret_file_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("KEY_FILE", str(tmp_path / "nowhere"))
    with pytest.raises(SettingError, match=r"KEY_FILE names .*nowhere, which cannot be read"):
        env_secret("KEY")


@pytest.mark.parametrize(("text", "value"), [("1", True), ("Yes", True), ("off", False), ("FALSE", False)])
def test_words_for_true_and_false_are_understood(monkeypatch: pytest.MonkeyPatch, text: str, value: bool) -> None:
    monkeypatch.setenv("FLAG", text)
    assert env_bool("FLAG", not value) is value


def test_a_flag_that_is_neither_true_nor_false_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FLAG", "perhaps")
    with pytest.raises(SettingError, match="FLAG is 'perhaps'; it takes true or false"):
        env_bool("FLAG", True)


@pytest.mark.parametrize("text", ["many", "1.5", "0"])
def test_a_number_that_does_not_fit_is_refused_by_name(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setenv("COUNT", text)
    with pytest.raises(SettingError, match="COUNT is"):
        env_int("COUNT", 3, minimum=1)


def test_lists_are_split_at_commas(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOSTS", "a.example, b.example,")
    assert env_list("HOSTS", []) == ["a.example", "b.example"]
