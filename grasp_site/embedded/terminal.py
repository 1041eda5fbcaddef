"""The output for the person at the terminal: one readable line for each event."""

import os
import sys
from datetime import datetime

from rich.console import Console
from rich.text import Text

NAME_WIDTH = 14


class Terminal:
    """Writes events to stdout, with colours on a terminal. A closed terminal does not stop the program."""

    def __init__(self) -> None:
        self._console = Console(highlight=False, soft_wrap=True)

    def say(self, name: str, text: str) -> None:
        """Write an event: the time, the name it concerns, and a sentence."""
        line = Text.assemble(
            (f"{datetime.now():%H:%M:%S}  ", "dim"), (f"{name:<{NAME_WIDTH}}", "cyan"), text.replace("\n", " ")
        )
        self._write(line)

    def plain(self, text: str) -> None:
        """Write a line that scripts wait for, without time and name."""
        self._write(Text(text))

    def _write(self, line: Text) -> None:
        try:
            self._console.print(line)
            sys.stdout.flush()
        except OSError:
            # The pipe or terminal is closed: from now on all output is discarded.
            self._console = Console(file=open(os.devnull, "w", encoding="utf-8"))  # noqa: PTH123, SIM115
