"""`make neo4j`: a Neo4j server in the foreground, until Ctrl-C."""

import argparse
import fcntl
import os
import select
import sys

from grasp_site.embedded.children import Guard, Minder, describe_exit
from grasp_site.embedded.faults import EmbeddedError
from grasp_site.embedded.home import Home
from grasp_site.embedded.neo4j.server import EmbeddedNeo4j
from grasp_site.embedded.preflight import check_port
from grasp_site.embedded.terminal import Terminal
from grasp_site.embedded.wakeup import Wakeup
from grasp_site.environment import SettingError

DEFAULT_PORT = 7687
START_POLL_SECONDS = 0.1
POLL_SECONDS = 1.0


def main() -> int:
    parser = argparse.ArgumentParser(prog="make neo4j", description=__doc__)
    parser.add_argument("--port", type=int, default=DEFAULT_PORT)
    port = parser.parse_args().port
    terminal = Terminal()
    try:
        return run(Home.from_environment(), port, terminal)
    except (EmbeddedError, SettingError) as error:
        terminal.say("neo4j", str(error))
        return 1


def run(home: Home, port: int, terminal: Terminal) -> int:
    """Run the server until a signal asks to stop or it ends by itself; return the exit code."""
    wakeup = Wakeup()
    server = EmbeddedNeo4j(home, port, notice=lambda text: terminal.say("neo4j", text))
    home.make_root()
    lock = os.open(home.root / "neo4j.lock", os.O_RDWR | os.O_CREAT, 0o644)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise EmbeddedError(f"The Neo4j of {home.root} is running already.") from None
    check_port(port)
    minder = Minder(home, Guard(kept_open=[lock]), terminal.say)
    try:
        child = minder.start(server.prepare(), keep=False)
        terminal.say("neo4j", "starting")
        stop = False
        while not stop and not server.has_started(child.process):
            stop = _asked_to_stop(wakeup, START_POLL_SECONDS)
        if not stop:
            server.set_password()
            terminal.plain(f"Ready: {server.url}")
        while not stop and child.process.poll() is None:
            stop = _asked_to_stop(wakeup, POLL_SECONDS)
        if stop:
            terminal.say("neo4j", "stopping")
            return 0
        terminal.say("neo4j", f"stopped ({describe_exit(child.process.returncode)}). Its logs: {server.log.parent}")
        return 1
    finally:
        minder.stop()
        os.close(lock)


def _asked_to_stop(wakeup: Wakeup, seconds: float) -> bool:
    """Wait at most `seconds` for a signal, and return whether it asks to stop."""
    select.select([wakeup], [], [], seconds)
    return wakeup.asked_to_stop()


if __name__ == "__main__":
    sys.exit(main())
