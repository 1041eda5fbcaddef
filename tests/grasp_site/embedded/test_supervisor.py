import os
import signal
import socket
from collections.abc import Callable

import psutil
import pytest

from grasp_site.embedded.home import Home
from tests.grasp_site.embedded.conftest import Site, processes_of, wait_for

Start = Callable[..., Site]


def process_of(site: Site, name: str) -> psutil.Process:
    """The child of the supervisor with `name` in its command line, which a process that begins does not have yet."""
    found: list[psutil.Process] = []

    def is_there() -> bool:
        children = psutil.Process(site.process.pid).children()
        found[:] = [child for child in children if any(name in part for part in child.cmdline())]
        return bool(found)

    wait_for(is_there, name)
    return found[0]


def test_the_first_start_sets_up_and_says_when_a_search_can_be_asked(start_site: Start) -> None:
    site = start_site("postgres", "valkey").ready()
    shown = "\n".join(site.lines)
    assert "postgres ready in" in shown
    assert "valkey ready in" in shown
    assert "setup password hush" in shown


def test_what_the_setup_tells_a_person_does_not_reach_a_log(start_site: Start, home: Home) -> None:
    start_site().ready()
    logs = {path.name: path.read_text() for path in home.logs.glob("*.log")}
    assert "a line for the log" in logs["setup.log"]
    assert not any("hush" in text for text in logs.values())


def test_a_second_run_says_where_the_first_one_is_and_succeeds(start_site: Start) -> None:
    first = start_site().ready()
    second = start_site()
    line = second.line_with("running already")
    assert first.url in line
    assert f"process {first.process.pid}" in line
    assert second.ends() == 0
    assert first.process.poll() is None


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_polite_signal_ends_everything_and_says_so(start_site: Start, number: signal.Signals) -> None:
    site = start_site("valkey").ready()
    site.process.send_signal(number)
    site.line_with("stopped")
    assert site.ends() == 0
    site.leaves_nothing()


def test_kill_9_of_the_supervisor_leaves_no_process(start_site: Start, home: Home) -> None:
    site = start_site("postgres", "valkey").ready()
    assert len(processes_of(home)) > 6
    site.process.kill()
    site.leaves_nothing()


def test_after_a_kill_9_the_next_run_waits_for_the_rest_to_end_and_starts(start_site: Start) -> None:
    first = start_site("valkey").ready()
    first.process.kill()
    first.process.wait()
    start_site("valkey").ready()


def test_kill_9_during_the_start_leaves_no_process(start_site: Start) -> None:
    site = start_site("postgres", "valkey")
    site.line_with("postgres ready")
    site.process.kill()
    site.leaves_nothing()


def test_a_dead_child_is_started_again_and_said_so(start_site: Start) -> None:
    site = start_site().ready()
    dead = process_of(site, "small_site.py")
    dead.kill()
    line = site.line_with("stopped (signal 9)")
    assert "web" in line
    assert "starting it again in 1 s" in line
    site.line_with("started again")
    assert process_of(site, "small_site.py").pid != dead.pid


def test_the_pause_before_a_restart_doubles(start_site: Start) -> None:
    site = start_site().ready()
    process_of(site, "small_site.py").kill()
    site.line_with("started again")
    process_of(site, "small_site.py").kill()
    assert "starting it again in 2 s" in site.line_with("stopped (signal 9)")


def test_a_dead_postgres_is_started_again_and_said_so(start_site: Start, home: Home) -> None:
    site = start_site("postgres").ready()
    pid = int((home.postgres / "data" / "postmaster.pid").read_text().splitlines()[0])
    os.kill(pid, signal.SIGKILL)
    assert "postgres" in site.line_with("stopped (signal 9)")
    site.line_with("started again")


def test_a_dead_keeper_is_replaced_and_its_services_with_it(start_site: Start, home: Home) -> None:
    site = start_site("valkey").ready()
    keeper = next(p for p in processes_of(home) if "grasp_site.embedded.keeper" in p.cmdline())
    keeper.kill()
    site.line_with("is gone; starting them again")
    site.line_with("valkey ready in")
    site.process.terminate()
    site.leaves_nothing()


def test_a_dead_watchdog_is_replaced(start_site: Start) -> None:
    site = start_site().ready()
    dead = process_of(site, "watchdog.py")
    dead.kill()
    wait_for(
        lambda: any(
            "watchdog.py" in " ".join(p.cmdline()) for p in psutil.Process(site.process.pid).children() if p != dead
        ),
        "another watchdog",
    )
    site.process.kill()
    site.leaves_nothing()


def test_a_taken_port_gets_a_sentence_that_says_what_to_do(start_site: Start) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        site = start_site(port=port)
        line = site.line_with(f"Port {port}")
    assert f"make run PORT={port + 1}" in line
    assert site.ends() == 1
    site.leaves_nothing()


def test_data_of_another_postgres_get_a_sentence_that_says_what_to_do(start_site: Start, home: Home) -> None:
    data = home.make_folder("postgres", mode=0o755) / "data"
    data.mkdir()
    (data / "PG_VERSION").write_text("15\n")
    site = start_site("postgres")
    line = site.line_with("Postgres 15")
    assert str(data) in line
    assert "GRASP_HOME" in line
    assert site.ends() == 1
    site.leaves_nothing()
