"""similar: build the similarity edges of a release (SAGE, section 2.1), and make a release that has them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from search.domain.errors import Fault
from search.domain.job_kinds import JobKind, JobTarget, Needs, argument
from search.domain.run_context import RunContext
from search.domain.similarity import SimilarSettings
from search.ingest.similar.link import FIND_NEIGHBOURS, FIND_THRESHOLDS
from search.models import Release
from search.services.knowledge.link_similar import READ, WRITE, LinkFailed, faults_of, link_similar
from search.services.knowledge.releases import activate_once

PROCESS = 400e6
"""Bytes of memory of the process and of the similarities that it holds at once."""


@dataclass(frozen=True)
class LinkSimilarJob(JobKind):
    """Makes a release in which similar texts are linked, for the pipeline SAGE (Kind)."""

    units: ClassVar[Mapping[str, str]] = {READ: "nodes", "": ""}
    targets: ClassVar[tuple[str, ...]] = ("knowledge_base", "release")
    makes: ClassVar[str] = "release"

    types: tuple[str, ...] = argument((), "Types of entities that take part; without any, all types with text.")
    percentile: float = argument(
        95.0, "A pair is linked above this percentile of a signal's own distribution.", low=50.0, high=100.0
    )
    neighbours: int = argument(25, "Most neighbours of an entity.", low=1, high=100)
    across: bool = argument(False, "Compare entities of different types, too: tables with passages, for example.")
    least_words: int = argument(8, "Fewest words of the text fields of an entity that takes part.", low=1, high=10_000)
    pairs: int = argument(
        200_000, "Pairs that are drawn to find a percentile; with fewer, all are compared.", low=100, high=10_000_000
    )
    activate: bool = argument(False, "Use the release for searches as soon as it is ready.")

    def parts(self) -> Mapping[str, float]:
        """Return the parts with their shares of the time."""
        return {READ: 0.2, FIND_THRESHOLDS: 0.1, FIND_NEIGHBOURS: 0.65, WRITE: 0.05}

    def refuse(self, target: JobTarget) -> Sequence[Fault]:
        """Refuse a release without vectors, and node types that there are not or that have no text."""
        return faults_of(_release(target), self.types)

    def needs(self, target: JobTarget) -> Needs:
        """Return the disk and the memory, from the number of nodes and neighbours."""
        release = _release(target)
        nodes = 0 if release is None else release.snapshot.nodes
        return Needs(disk=nodes * (8 + 9 * self.neighbours), memory=int(PROCESS) + nodes * (60 + 18 * self.neighbours))

    def run(self, target: JobTarget, run: RunContext) -> dict[str, Any]:
        """Link; return the release, thresholds, counts, and how many neighbours nodes have."""
        release = _release(target)
        if release is None:
            raise LinkFailed(f"The release {target.release} has been dropped since the job was launched.")
        linked = link_similar(release=release, settings=self.settings, run=run)
        run.check()
        if self.activate:
            activate_once(linked.release.knowledge_base, linked.release, run)
        return {
            "knowledge_base": target.knowledge_base,
            "release": linked.release.name,
            "new": linked.new,
        } | linked.report

    @property
    def settings(self) -> SimilarSettings:
        """The arguments that decide which edges there are."""
        return SimilarSettings(
            self.percentile, self.neighbours, tuple(self.types), self.across, self.least_words, self.pairs
        )


def _release(target: JobTarget) -> Release | None:
    """Return the release that a target names."""
    number = target.release.removeprefix(f"{target.knowledge_base}-")
    if not number.isdecimal():
        return None
    named = Release.objects.select_related("snapshot", "vector_set", "knowledge_base")
    return named.filter(knowledge_base__name=target.knowledge_base, number=int(number)).first()
