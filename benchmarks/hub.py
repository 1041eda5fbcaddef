"""How fast the pages of a hub open at several sizes: its relations, what is like it, paths over it, completed names.

The bases are those that `sizes --keep` and `plans` leave. The pages are asked for in this process by Django's client:
all of the site's work, without the network.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from urllib.parse import quote

import numpy as np

from benchmarks.common import by_size, percentiles, show
from benchmarks.synthetic import SIZES

TIMES = 20
PAGES = {
    "a hub's page": "nodes/{hub}/",
    "its last page": "nodes/{hub}/?relation=HAS_TOPIC&direction=in&page=999999",
    "a leaf's page": "nodes/{leaf}/",
    "what is like the hub": "alike/?id={hub}",
    "paths hub – leaf": "paths/?from={hub}&to={leaf}",
    "paths of two hubs": "paths/?from={hub}&to={other}",
    "a completed name": "suggest/?q={begun}",
}


def main(arguments: Sequence[str] = ()) -> None:
    """Print the table for the sizes asked for."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks hub", description=__doc__)
    parser.add_argument("--sizes", default="3k,30k", help=f"of {', '.join(SIZES)}, separated by commas")
    sizes = parser.parse_args(list(arguments)).sizes.split(",")
    by_size("Pages of a hub", "page", {size: _measured(size) for size in sizes}, "KiB")


def _measured(size: str) -> dict[str, tuple[float, float, float]]:
    """Return page → p50 and p95 of the processor time in milliseconds, and its size in KiB."""
    # Imported here because models can be imported only after Django is set up.
    from django.test import Client

    from search.models import KnowledgeBase
    from search.wiring import Tools

    base = KnowledgeBase.objects.get(name=f"sizes-{size}")
    assert base.active_release is not None
    tools = Tools(base.active_release, 0)
    adjacency = tools.adjacency
    topic = adjacency.schema.relation_codes["HAS_TOPIC"]
    fields = adjacency.of_types([adjacency.schema.type_codes["field"]])
    degrees = adjacency.degrees(fields, topic, "in")
    hub, other = fields[np.argsort(-degrees, kind="stable")[:2]].tolist()
    leaf = int(adjacency.part(hub, topic, "in", 0, 1)[0])
    named = dict(zip(("hub", "other", "leaf"), tools.nodes.references([hub, other, leaf]), strict=True))
    given = {role: quote(node.id, safe="") for role, node in named.items()} | {"begun": quote(named["hub"].name[:6])}
    # One for all requests: a new client reads the list of static files again.
    client = Client(SERVER_NAME="localhost")
    show(f"{size}: the hub has {degrees.max():,} relations")
    found = {}
    for page, address in PAGES.items():
        seconds, answer = [], None
        # The first one opens files and fills caches.
        for at in range(-1, TIMES):
            began = time.process_time()
            answer = client.get(f"/kb/sizes-{size}/{address.format(**given)}")
            if at >= 0:
                seconds.append(time.process_time() - began)
            if answer.status_code != 200:
                raise RuntimeError(f"{address} answers {answer.status_code}")
        assert answer is not None
        found[page] = *percentiles(seconds), len(answer.content) / 1024
    return found
