"""link_similar: builds the similarity edges of a release, and makes a release that has them."""

from __future__ import annotations

import json
import sys
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from search.domain.errors import InvalidRequest, SearchError
from search.domain.job_kinds import JobTarget
from search.jobs.link_similar import LinkSimilarJob
from search.management.console import refuse_shortage, shown
from search.models import KnowledgeBase, Release
from search.services.jobs.kinds import built
from search.services.jobs.run_here import recorded
from search.services.knowledge.knowledge_bases import named
from search.services.knowledge.link_similar import LinkFailed
from search.services.knowledge.releases import ReleaseError, find_release

KIND = "similar"


class Command(BaseCommand):
    """Links similar nodes."""

    help = (
        "Links nodes whose content, title or topics are similar (SAGE), and makes a release that has these links. The "
        "graph's own edges do not change."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the arguments."""
        parser.add_argument("name", help="name of the knowledge base")
        parser.add_argument("--release", help="a release, by number or name; without it, the active one")
        parser.add_argument("--types", nargs="+", default=[], metavar="TYPE",
                            help="node types that take part; without, all types with text")  # fmt: skip
        parser.add_argument("--percentile", type=float, default=95.0, help="of each signal's distribution (95)")
        parser.add_argument("--neighbours", type=int, default=25, help="most neighbours of a node (25)")
        parser.add_argument("--across", action="store_true", help="compare nodes of different types, too")
        parser.add_argument("--least-words", type=int, default=8, help="fewest words of a node that takes part (8)")
        parser.add_argument("--pairs", type=int, default=200_000, help="pairs drawn to find a percentile (200000)")
        parser.add_argument("--activate", action="store_true", help="use the release for searches at once")
        parser.add_argument("--json", action="store_true", help="one JSON object on stdout and no progress")

    def handle(self, *args: Any, **options: Any) -> None:
        """Link; exit code 1 if no edges were made, 2 if an argument is wrong."""
        try:
            base = named(options["name"])
            release = _release(base, options["release"])
            names = ("types", "percentile", "neighbours", "across", "least_words", "pairs", "activate")
            arguments = {name: options[name] for name in names}
            job = built(KIND, arguments)
        except (ReleaseError, InvalidRequest) as error:
            raise CommandError(str(error), returncode=2) from error
        assert isinstance(job, LinkSimilarJob)
        target = JobTarget(base.name, release.name)
        if faults := job.refuse(target):
            raise CommandError(" ".join(fault.message for fault in faults), returncode=2)
        refuse_shortage(job.needs(target))
        try:
            with (
                shown(sys.stderr, job.parts(), kind="similar", quiet=options["json"]) as terminal,
                recorded(
                    terminal, kind=KIND, knowledge_base=base.name, arguments=arguments, release=release.name
                ) as here,
            ):
                here.result = job.run(target, here.run)
        except (LinkFailed, SearchError) as error:
            raise CommandError(str(error)) from error
        self.stdout.write(json.dumps(here.result, ensure_ascii=False) if options["json"] else told(here.result))


def told(result: dict[str, Any]) -> str:
    """Return the result as lines for people: thresholds by signal, and how many neighbours nodes have."""
    lines = [
        f"{result['release']} {'is ready' if result['new'] else 'has these edges already'}: {result['edges']:,} "
        f"similarity edges of {result['nodes']:,} nodes; median {result['median_degree']:g} a node, "
        f"most {result['most_degree']}."
    ]
    for one in result["thresholds"]:
        pairs = f"all {one['pairs']:,}" if one["every"] else f"{one['pairs']:,} drawn"
        types = " – ".join(dict.fromkeys(one["types"]))
        lines.append(
            f"  {types}, {one['signal']}: above {one['threshold']:.4f} ({pairs} pairs), {one['edges']:,} edges"
        )
    lines.append(
        f"  neighbours: {', '.join(f'{name}: {count:,}' for name, count in result['degrees'].items() if count)}"
    )
    return "\n".join(lines)


def _release(base: KnowledgeBase, wanted: str | None) -> Release:
    """Return the named release, or the active one. Raises ReleaseError."""
    if wanted:
        return find_release(knowledge_base=base, release=wanted)
    if base.active_release is None:
        raise ReleaseError(f"'{base.name}' has no active release; `index_kb {base.name}` builds one.")
    return base.active_release
