"""The lists of index files: what each folder of a snapshot's index files must hold, on whatever machine it is."""

from __future__ import annotations

from pathlib import Path

from django.db import models

from search.models.knowledge import Snapshot

STAMP = "part.json"
"""Name of the file that marks a folder as finished and holds the version of its format."""


class IndexFolder(models.Model):
    """The files of one folder of index files with their lengths and hashes, as they were when it was built.

    The folder is below the snapshot's: `bm25`, `vectors-2`, `similar-5`. Another machine fetches exactly these files.
    """

    snapshot = models.ForeignKey(Snapshot, on_delete=models.CASCADE, related_name="index_folders")
    name = models.CharField(max_length=100)
    files = models.JSONField(default=dict, help_text="Path within the folder → [length in bytes, SHA-256].")
    fingerprint = models.CharField(max_length=64, help_text="SHA-256 over the list of files.")
    host = models.CharField(max_length=255, blank=True, help_text="The machine that built it.")
    recorded = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ["snapshot_id", "name"]
        constraints = [models.UniqueConstraint(fields=["snapshot", "name"], name="folder_of_snapshot")]

    def __str__(self) -> str:
        return f"snapshot {self.snapshot_id}/{self.name}"

    @property
    def directory(self) -> Path:
        """The folder on this machine."""
        return self.snapshot.directory / self.name

    @property
    def place(self) -> str:
        """The folder's path below GRASP_HOME, which is its name in every place that has it."""
        return f"indexes/snapshot-{self.snapshot_id}/{self.name}"

    @property
    def bytes(self) -> int:
        """The length of all its files."""
        return sum(length for length, _ in self.files.values())
