"""import_source: import a knowledge base from wherever it is."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from search.adapters.graph_neo4j.address import Address
from search.domain.errors import InvalidRequest
from search.domain.run_context import RunContext
from search.ingest.faults import BundleError, RowFault
from search.services.imports.open_source import opened_source
from search.services.imports.place import SourcePlace, check_place
from search.services.jobs.run_context import plain_run
from search.services.knowledge.import_snapshot import ImportFailed, ImportReport, import_snapshot


def import_source(
    *,
    place: SourcePlace | Path | Address,
    mapping: Mapping[str, Any] | None = None,
    name: str = "",
    accept_guess: bool = False,
    tolerance: int = 0,
    report: Path | None = None,
    dry_run: bool = False,
    index: bool = True,
    embed: bool = True,
    activate: bool = True,
    visibility: str = "",
    run: RunContext | None = None,
) -> ImportReport:
    """Import a knowledge base, and return the report.

    `place` is a Place, as pages and the API name it and limited to what the settings allow, or a folder or an address
    that the command line has resolved itself. `mapping` is the JSON of a SourceMapping (of labels, for a database). The
    other arguments are those of `import_snapshot`. Raises ImportFailed, and what `run.check` raises.
    """
    run = run or plain_run()
    try:
        opened = check_place(place) if isinstance(place, SourcePlace) else place
        with opened_source(opened, mapping, run, name=name, accept_guess=accept_guess) as source:
            return import_snapshot(
                source=source,
                name=name or None,
                tolerance=tolerance,
                report=report,
                dry_run=dry_run,
                index=index,
                embed=embed,
                activate=activate,
                visibility=visibility,
                run=run,
            )
    except InvalidRequest as error:
        faults = [RowFault("mapping", 0, "bad_mapping", f"{fault.pointer}: {fault.sentence}") for fault in error.faults]
        raise ImportFailed(" ".join(map(str, faults[:5])), ImportReport(name, faults=faults)) from error
    except BundleError as error:
        raise ImportFailed(str(error), ImportReport(name, faults=list(error.faults))) from error
