"""`make llm`: a language model's server in the foreground, until Ctrl-C."""

from __future__ import annotations

import argparse
import select
import sys
from pathlib import Path

from grasp_site.embedded.faults import EmbeddedError
from grasp_site.embedded.home import Home
from grasp_site.embedded.llm.server import GEMMA, TERMS, LanguageModelServer, ServerSize, gemma_file
from grasp_site.embedded.preflight import check_port
from grasp_site.embedded.terminal import Terminal
from grasp_site.embedded.wakeup import Wakeup
from grasp_site.environment import SettingError

DEFAULT_PORT = 8081
POLL_SECONDS = 1.0


def main() -> int:
    default = ServerSize()
    parser = argparse.ArgumentParser(prog="make llm", description=__doc__)
    parser.add_argument("--port", type=int, default=DEFAULT_PORT)
    parser.add_argument("--model", type=Path, help="a GGUF file; Gemma 3 270M without it")
    parser.add_argument("--context", type=int, default=default.context, help="tokens of a prompt and its answer")
    parser.add_argument("--slots", type=int, default=default.slots, help="requests at once")
    parser.add_argument("--threads", type=int, default=default.threads, help="no more than there are free cores")
    given = parser.parse_args()
    terminal = Terminal()
    try:
        return run(given.model, given.port, ServerSize(given.context, given.slots, given.threads), terminal)
    except (EmbeddedError, SettingError) as error:
        terminal.say("llm", str(error))
        return 1


def run(model: Path | None, port: int, size: ServerSize, terminal: Terminal) -> int:
    """Run the server until a signal asks to stop; return the exit code."""
    wakeup = Wakeup()
    check_port(port)
    if model is None:
        home = Home.from_environment()
        terminal.say("llm", f"{GEMMA}: the Gemma Terms of Use apply to it ({TERMS})")
        model = gemma_file(home.make_folder("llm"))
    terminal.say("llm", "starting")
    with LanguageModelServer(model, port, size) as server:
        terminal.plain(f"Ready: LLM_BASE_URL={server.base_url} LLM_MODEL={server.name}")
        while not _asked_to_stop(wakeup):
            pass
        terminal.say("llm", "stopping")
    return 0


def _asked_to_stop(wakeup: Wakeup) -> bool:
    """Wait for a signal, and return whether it asks to stop."""
    select.select([wakeup], [], [], POLL_SECONDS)
    return wakeup.asked_to_stop()


if __name__ == "__main__":
    sys.exit(main())
