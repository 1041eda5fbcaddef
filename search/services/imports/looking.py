"""The process that looks at files from outside: it reads one request from stdin, and writes one answer to stdout.

Whoever sends files decides how much memory and time reading them takes, so `look` has them read here: this process may
take `MEMORY` bytes and `SECONDS`, and whatever goes wrong in it ends nothing else. It needs neither settings nor a
database, so it begins fast.
"""

from __future__ import annotations

import os
import resource
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import orjson

from search.domain.errors import InvalidRequest
from search.services.imports.preview import measure, preview

MEMORY = 1 << 30
"""Bytes of memory beyond those of a process that has read nothing yet."""
SECONDS = 120
"""Seconds of the processor, and of the clock."""
LARGEST_ANSWER = 32 << 20
"""Bytes of an answer."""
NICENESS = 5
WHAT: Mapping[str, Callable[..., Any]] = {"preview": preview, "measure": measure}
OUT_OF_MEMORY = (
    f"Looking at the files takes more than {MEMORY >> 20:,} MB of memory: one of them has a cell, a line or a list "
    "that is too large, or its rows are many times as large as the file."
)
OUT_OF_TIME = f"Looking at the first rows of the files takes more than {SECONDS} seconds."


def answer(request: Mapping[str, Any]) -> dict[str, Any]:
    """Return the answer to a request; `refused` says which bound was hit, `faults` what is wrong with the mapping."""
    try:
        found = WHAT[request["what"]](Path(request["folder"]), **request["arguments"])
        if len(orjson.dumps(found)) > LARGEST_ANSWER:
            return {"refused": f"What the files hold takes more than {LARGEST_ANSWER >> 20} MB to tell: they have too "
                               "many columns, types or relations."}  # fmt: skip
        return {"found": found}
    except InvalidRequest as error:
        return {"faults": [[fault.pointer, fault.message, fault.nearest] for fault in error.faults]}
    except MemoryError:
        return {"refused": OUT_OF_MEMORY}
    except SystemError as error:
        # The JSON reader tells a lack of memory in this way.
        if not isinstance(error.__cause__, MemoryError):
            raise
        return {"refused": OUT_OF_MEMORY}


def main() -> None:
    """Answer one request, within the bounds."""
    begun = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (begun + MEMORY,) * 2)
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS + 1))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    os.nice(NICENESS)
    sys.stdout.buffer.write(orjson.dumps(answer(orjson.loads(sys.stdin.buffer.read()))))


if __name__ == "__main__":
    main()
