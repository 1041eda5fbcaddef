import os
import signal
import subprocess
import sys
from collections.abc import Callable

import psutil

from grasp_site.embedded.home import Home
from grasp_site.embedded.lease import acquire, wait_until_stopped
from tests.grasp_site.embedded.conftest import PROJECT, Site, processes_of, wait_for

HOLDER = "import sys; from grasp_site.embedded.home import Home; from grasp_site.embedded.lease import acquire; \
lease = acquire(Home.from_environment(), ['valkey']); sys.stdout.write('held\\n'); sys.stdout.flush(); sys.stdin.read()"


def hold_elsewhere(home: Home) -> subprocess.Popen[str]:
    """A process that holds a lease until its input ends."""
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDER],
        cwd=PROJECT,
        env={**os.environ, "GRASP_HOME": str(home.root)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert holder.stdout is not None
    assert holder.stdout.readline() == "held\n"
    return holder


def servers_of(home: Home) -> list[psutil.Process]:
    return [process for process in processes_of(home) if process.name() == "valkey-server"]


def test_two_holders_share_one_server_and_the_last_one_stops_it(home: Home) -> None:
    first, second = acquire(home, ["valkey"]), acquire(home, ["valkey"])
    assert len(servers_of(home)) == 1
    assert first.close() is False
    assert len(servers_of(home)) == 1
    assert second.close() is True
    assert servers_of(home) == []


def test_a_killed_holder_gives_its_lease_back(home: Home) -> None:
    holder = hold_elsewhere(home)
    lease = acquire(home, ["valkey"])
    holder.send_signal(signal.SIGKILL)
    holder.wait()
    assert lease.close() is True
    wait_for(lambda: not processes_of(home), "the end of the keeper")


def test_the_only_holder_killed_leaves_no_process(home: Home) -> None:
    holder = hold_elsewhere(home)
    holder.send_signal(signal.SIGKILL)
    holder.wait()
    assert wait_until_stopped(home, timeout=10)
    wait_for(lambda: not processes_of(home), "the end of the server")


def test_a_service_that_nobody_asked_for_is_started_when_somebody_does(home: Home) -> None:
    lease = acquire(home, ["valkey"])
    assert not (home.postgres / "data").exists()
    also = acquire(home, ["postgres", "valkey"])
    assert (home.postgres / "data" / "PG_VERSION").exists()
    lease.close()
    also.close()


def test_a_command_uses_the_services_of_a_running_site_and_leaves_them_running(
    start_site: Callable[..., Site], home: Home
) -> None:
    start_site("valkey").ready()
    before = servers_of(home)
    assert acquire(home, ["valkey"]).close() is False
    assert servers_of(home) == before


def test_a_site_that_stops_leaves_the_services_to_a_command_that_still_runs(
    start_site: Callable[..., Site], home: Home
) -> None:
    site = start_site("valkey").ready()
    lease = acquire(home, ["valkey"])
    site.process.terminate()
    site.line_with("a command still uses the embedded services")
    assert site.ends() == 0
    assert len(servers_of(home)) == 1
    assert lease.close() is True
