"""How a parallel run is divided, by hand: long files first, and one process for what shares a site."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import PROJECT
from tests.schedule import HOUSES, LONG, next_file

BROWSER, OTHER = "tests/browser/test_a.py", "tests/browser/test_b.py"
PLAIN, LONGER = "tests/search/test_a.py", "tests/search/test_b.py"
WAITING = {PLAIN: 10, LONGER: 20, BROWSER: 1, OTHER: 2}


@pytest.mark.parametrize(
    ("own", "others", "expected"),
    [
        pytest.param([], [], OTHER, id="the house with most to do, and its longest file"),
        pytest.param([], ["tests/browser/test_c.py"], LONGER, id="not into the house of another process"),
        pytest.param(["tests/browser/test_c.py"], [PLAIN], OTHER, id="stays in its house"),
        pytest.param(["tests/search/test_c.py"], [], OTHER, id="a file that shares nothing is no house to stay in"),
    ],
)
def test_the_next_file_of_a_process(own: list[str], others: list[str], expected: str) -> None:
    assert next_file(WAITING, own, others) == expected


def test_at_the_end_a_process_helps_where_another_one_is() -> None:
    assert next_file({BROWSER: 1, OTHER: 2}, [], ["tests/browser/test_c.py"]) == OTHER


def test_every_file_and_folder_that_is_named_exists() -> None:
    assert [path for path in (*HOUSES, *LONG) if not Path(PROJECT, path).exists()] == []
