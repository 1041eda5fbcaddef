"""200 items judged by three annotators at once in real browsers, whose network is cut at random.

Also every tenth answer of the site is lost on its way, and tabs are closed and opened again. Prints what was pressed
beside what is stored: nothing may be lost, doubled, or stored otherwise.
"""

from __future__ import annotations

import os
import time

from playwright.sync_api import sync_playwright

from benchmarks.common import CHROMIUM, NotHere, running, show, table
from search.models import KnowledgeBase
from tests.browser.annotators import enter, work
from tests.training.annotating import annotators, differences, node_queue

NAMES = ("annotator-1", "annotator-2", "annotator-3")
ITEMS, OVERLAP = int(os.environ.get("BENCH_ITEMS", "200")), 3
MOST_STEPS = 100 * ITEMS


def main() -> None:
    """Make a queue on the first base with a release, let three browsers judge all of it, and compare."""
    base = KnowledgeBase.objects.exclude(active_release=None).order_by("name").first()
    if base is None:
        raise NotHere("no knowledge base is loaded")
    annotators(NAMES)
    queue = node_queue(base, ITEMS, OVERLAP, f"benchmark of {time.time():.0f}")
    with running() as (address, _, _), sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        began = time.perf_counter()
        page = f"/annotate/{queue.pk}/"
        people = [enter(browser, address, name, name, page, seed) for seed, name in enumerate(NAMES)]
        work(people, queue.pk, MOST_STEPS)
        seconds = time.perf_counter() - began
        browser.close()
    told = differences(queue, {one.name: one.said for one in people})
    show(f"{ITEMS} items, {len(people)} annotators, overlap {OVERLAP}, {base.name}: {seconds:.0f} s")
    rows = [[one.name, len(one.said), one.cuts, one.lost_answers, one.reopened, one.undone] for one in people]
    table("Annotators", ["who", "judged", "network cut", "answers lost", "tab reopened", "undone"], rows)
    table("Judgements", list(told), [list(told.values())])
