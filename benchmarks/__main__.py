"""`python -m benchmarks [NAME]…`: runs the named scripts, or all of them in this order.

A script in `WITH_ARGUMENTS` takes all that follows its name: `python -m benchmarks asked --help`.
"""

from __future__ import annotations

import sys
from importlib import import_module

from benchmarks.common import NotHere, show, site

SCRIPTS = (
    "import_speed",
    "index_speed",
    "sizes",
    "plans",
    "progress",
    "graph",
    "reading",
    "ledger",
    "fit_reading",
    "learned",
    "retriever",
    "search_speed",
    "with_neo4j",
    "http",
    "hub",
    "first_paint",
    "people",
    "crowd",
    "quality",
    "asked",
    "calibrate",
    "ablation",
    "curve",
    "lost",
    "processes",
    "jobs",
    "annotating",
    "backup",
    "rerank_speed",
    "gpu_rerank",
    "gpu_train",
)
WITH_ARGUMENTS = (
    "asked",
    "backup",
    "calibrate",
    "crowd",
    "fit_reading",
    "graph",
    "hub",
    "sizes",
    "ledger",
    "people",
    "plans",
    "progress",
    "reading",
    "with_neo4j",
)


def main(names: list[str]) -> int:
    """Run the scripts one after the other and return the exit code; for an unknown name, print the known ones."""
    arguments: list[list[str]] = []
    if names and names[0] in WITH_ARGUMENTS:
        names, arguments = names[:1], [names[1:]]
    unknown = [name for name in names if name not in SCRIPTS]
    if unknown:
        show(f"There is no benchmark {', '.join(unknown)}; there are: {', '.join(SCRIPTS)}.")
        return 2
    with site():
        for name in names or SCRIPTS:
            try:
                import_module(f"benchmarks.{name}").main(*arguments)
            except NotHere as reason:
                show(f"{name}: {reason}; not measured.")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
