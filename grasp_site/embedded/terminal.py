"""What the person at the terminal sees: one readable line an event."""

import os
import sys
from datetime import datetime

from rich.console import Console
from rich.text import Text

NAME_WIDTH = 14


class Terminal:
    """Writes events to stdout, with colours where it is a terminal. Nobody reading any more is no reason to stop."""

    def __init__(self) -> None:
        self._console = Console(highlight=False, soft_wrap=True)

    def say(self, name: str, text: str) -> None:
        """One event: when, who it is about, what happened."""
        line = Text.assemble(
            (f"{datetime.now():%H:%M:%S}  ", "dim"), (f"{name:<{NAME_WIDTH}}", "cyan"), text.replace("\n", " ")
        )
        self._write(line)

    def plain(self, text: str) -> None:
        """A line that scripts wait for: nothing before it, nothing behind it."""
        self._write(Text(text))

    def _write(self, line: Text) -> None:
        try:
            self._console.print(line)
            sys.stdout.flush()
        except OSError:
            # A closed pipe or terminal; from here on there is nowhere to write to.
            self._console = Console(file=open(os.devnull, "w", encoding="utf-8"))  # noqa: PTH123, SIM115
