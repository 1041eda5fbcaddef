"""Index files part by part: what is whole stays, what is not is built again."""

from pathlib import Path

import pytest

from search.domain.run_context import RunContext
from search.ingest.index import IndexPart, build_parts, version_of


def part(content: str, version: int = 1) -> IndexPart:
    def write(folder: Path) -> None:
        (folder / "content").write_text(content)

    return IndexPart(version, write)


def failing(folder: Path) -> None:
    (folder / "content").write_text("half")
    raise OSError("disk full")


def test_parts_are_built_in_their_order_and_told(tmp_path: Path) -> None:
    told: list[str] = []
    run = RunContext(progress=lambda part, done, total: told.append(part))
    built = build_parts(tmp_path / "snapshot-1", {"b": part("1"), "a": part("2")}, run)
    assert list(built) == ["b", "a"]
    assert told == ["Index files: b", "Index files: a"]
    assert (tmp_path / "snapshot-1" / "a" / "content").read_text() == "2"


def test_a_part_that_is_there_is_left_alone(tmp_path: Path) -> None:
    build_parts(tmp_path, {"a": part("old")})
    assert build_parts(tmp_path, {"a": part("new"), "b": part("b")}).keys() == {"b"}
    assert (tmp_path / "a" / "content").read_text() == "old"


def test_a_part_of_another_version_is_replaced_whole(tmp_path: Path) -> None:
    build_parts(tmp_path, {"a": part("old")})
    (tmp_path / "a" / "left over").touch()
    build_parts(tmp_path, {"a": part("new", version=2)})
    assert (tmp_path / "a" / "content").read_text() == "new"
    assert not (tmp_path / "a" / "left over").exists()


def test_a_part_that_failed_is_absent_and_the_next_call_builds_it(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="disk full"):
        build_parts(tmp_path, {"a": part("a"), "b": IndexPart(1, failing)})
    assert version_of(tmp_path / "a") == 1
    assert version_of(tmp_path / "b") is None
    assert build_parts(tmp_path, {"a": part("a"), "b": part("whole")}).keys() == {"b"}
    assert (tmp_path / "b" / "content").read_text() == "whole"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "b"]
