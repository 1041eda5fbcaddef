"""Which test file a process of a parallel run takes next: long files first, and files of one site in one process.

A run ends when its last process does, so what takes long must not begin last. The files of a house share something that
takes half a minute to start and stays until its process ends: a whole site with a browser, or Neo4j.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from xdist.scheduler import LoadFileScheduling
from xdist.workermanage import WorkerController

HOUSES = {
    "tests/browser/": "browser",
    "tests/integration/test_mapped_before_neo4j.py": "neo4j",
    "tests/integration/test_two_thousand_plans.py": "neo4j",
    "tests/integration/test_same_answers.py": "neo4j",
    "tests/integration/test_same_bounds.py": "neo4j",
    "tests/search/services/imports/test_import_source.py": "neo4j",
    "tests/search/services/knowledge/test_sync_graph.py": "neo4j",
    "tests/search/stages/test_traverse.py": "neo4j",
}
"""Beginning of a file's path → what the file shares with the others of its house."""
LONG = {
    "tests/browser/test_every_page.py": 170.0,
    "tests/integration/test_real_model.py": 100.0,
    "tests/documentation/test_commands.py": 130.0,
    "tests/search/api/test_schema.py": 60.0,
    "tests/integration/test_bad_models.py": 70.0,
    "tests/browser/test_gallery.py": 60.0,
    "tests/integration/test_two_thousand_plans.py": 60.0,
    "tests/search/adapters/test_whole_plans.py": 60.0,
    "tests/training/learning/test_retriever.py": 50.0,
    "tests/docker/test_services_run.py": 45.0,
    "tests/grasp_site/test_roles.py": 35.0,
    "tests/integration/test_same_answers.py": 35.0,
    "tests/search/test_linear_reading.py": 30.0,
    "tests/integration/test_two_machines.py": 30.0,
    "tests/training/learning/test_reranker_gemma.py": 30.0,
    "tests/training/data/synthesis/test_conditions.py": 20.0,
}
"""Rough seconds of long files. Nothing depends on them but how evenly a run is divided."""
SECONDS_A_TEST = 0.15
SECONDS_A_BROWSER_TEST = 5.0


def house_of(file: str) -> str:
    """Return the house of a test file; a file that shares nothing is a house of its own."""
    return next((house for start, house in HOUSES.items() if file.startswith(start)), file)


def seconds_of(file: str, tests: int) -> float:
    """Return roughly how many seconds a test file takes."""
    return LONG.get(file) or tests * (SECONDS_A_BROWSER_TEST if house_of(file) == "browser" else SECONDS_A_TEST)


def next_file(waiting: dict[str, int], own: Iterable[str], others: Iterable[str]) -> str:
    """Return the file that a process takes next.

    The longest one of the houses that it is in, else of the house with most to do that no other process is in, else of
    what is left.

    Args:
        waiting: each file that waits, with its number of tests.
        own: files that this process has been given before.
        others: files that other processes have been given.
    """
    todo: dict[str, float] = {}
    for file, tests in waiting.items():
        todo[house_of(file)] = todo.get(house_of(file), 0.0) + seconds_of(file, tests)
    mine, theirs = ({house_of(file) for file in files} for files in (own, others))
    choice: Sequence[Callable[[str], bool]] = (lambda house: house in mine, lambda house: house not in theirs, bool)
    houses = next(found for wanted in choice if (found := [house for house in todo if wanted(house)]))
    house = max(houses, key=todo.__getitem__)
    return max((file for file in waiting if house_of(file) == house), key=lambda file: seconds_of(file, waiting[file]))


class LongFilesFirst(LoadFileScheduling):
    """xdist's `loadfile`, with the next file chosen by `next_file`."""

    def _assign_work_unit(self, node: WorkerController) -> None:
        waiting = {file: len(tests) for file, tests in self.workqueue.items()}
        others = [file for other, files in self.assigned_work.items() if other is not node for file in files]
        self.workqueue.move_to_end(next_file(waiting, self.assigned_work.get(node, {}), others), last=False)
        super()._assign_work_unit(node)
