"""Every command of the pages is run as it stands there, page by page, beside a running site."""

import secrets
import subprocess
from collections import Counter
from pathlib import Path

import pytest
from django.core.management import get_commands, load_command_class
from django.core.management.base import CommandParser

from tests.conftest import PROJECT
from tests.docs_blocks import Block, blocks, missing_from, named_commands, pages
from tests.documentation.conftest import Scratch

PAGE_SECONDS = 240
ADDRESS = "http://127.0.0.1:8000"
MOST_NOT_RUN = 2
"""Blocks of a page that may be left out, each with its reason."""
# Pages about what a test machine does not have, with how many of their blocks need it.
NOT_RUN = {"containers.md": 11, "backup.md": 4}


def with_blocks() -> list[Path]:
    """Return the pages that hold a block to be run."""
    return [path for path in pages() if any(not block.reason for block in blocks(path))]


@pytest.mark.parametrize("path", with_blocks(), ids=lambda path: path.name)
def test_the_commands_of_a_page_work_in_the_order_in_which_they_stand(path: Path, scratch: Scratch) -> None:
    """A block that fails ends the page, as it would end a reader's patience."""
    wanted = [block for block in blocks(path) if not block.reason]
    mark = f"== {secrets.token_hex(8)} "
    script = "".join(f"printf '\\n{mark}%s\\n' {block.line}\n{block.text}\n" for block in wanted)
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script.replace(ADDRESS, scratch.url)],
        cwd=scratch.folder, env=scratch.environment, timeout=PAGE_SECONDS, check=False, text=True,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    assert done.returncode == 0, f"{path.name}, exit {done.returncode}: {done.stdout[-4000:]}"
    said = done.stdout.replace(scratch.url, ADDRESS).split(mark)[1:]
    for block, (_, _, output) in zip(wanted, (part.partition("\n") for part in said), strict=True):
        assert missing_from(output, block.output) == [], f"{path.name}:{block.line} printed\n{output}"


def test_every_page_says_why_a_block_is_not_run_and_leaves_few_out() -> None:
    left_out: list[Block] = [block for path in pages() for block in blocks(path) if block.reason]
    assert [block for block in left_out if len(block.reason.split()) < 2] == []
    counted = Counter(block.page for block in left_out)
    assert {page: n for page, n in counted.items() if n > NOT_RUN.get(page, MOST_NOT_RUN)} == {}


def options_of(name: str) -> set[str]:
    """Return every option of a command of the site, with those of its subcommands."""
    command = load_command_class(get_commands()[name], name)
    found: set[str] = set()
    waiting = [command.create_parser("manage.py", name)]
    while waiting:
        parser = waiting.pop()
        found |= set(parser._option_string_actions)
        for action in parser._actions:
            if isinstance(action.choices, dict):
                waiting += [choice for choice in action.choices.values() if isinstance(choice, CommandParser)]
    return found


def test_every_command_that_a_page_names_exists_with_its_options() -> None:
    """In prose, in synopses and in blocks that are not run, too."""
    known = {name: options_of(name) for name in get_commands() if not get_commands()[name].startswith("django.")}
    wrong = []
    for path in pages():
        for name, options in named_commands(path):
            if name in get_commands() and name not in known:
                known[name] = options_of(name)
            wrong += [f"{path.name}: {name}"] if name not in known else []
            wrong += [f"{path.name}: {name} {option}" for option in options if option not in known.get(name, {option})]
    assert wrong == []


def test_an_output_is_compared_piece_by_piece() -> None:
    assert missing_from("one 17 ms two\nthree", "one … two\nthree") == []
    assert missing_from("two one", "one\ntwo") == ["two"]


def test_the_page_of_commands_names_every_command_of_the_project() -> None:
    own = {name for name, app in get_commands().items() if app in ("search", "training", "grasp_site.documentation")}
    page = (PROJECT / "docs" / "commands.md").read_text(encoding="utf-8")
    assert sorted(name for name in own if f"`{name}`" not in page) == []
