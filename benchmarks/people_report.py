"""What `python -m benchmarks people` has counted, and the tables that it prints."""

from __future__ import annotations

import argparse
import statistics
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from django.db.models import Count

from benchmarks.common import show, table
from benchmarks.memory import State, grown
from search.models import SearchRun

TYPING = (2.0, 8.0)
"""Seconds that a person types a question, drawn evenly."""
READING = (2.0, 10.0, 60.0)
"""Seconds that a person reads results, drawn from an exponential distribution: least, mean, most."""
TARGET_P95 = 3.0
KINDS = ("search page", "ask", "page of the search", "changes")
CLASSES = ("2xx, 3xx", "429", "503", "other")


@dataclass
class Tally:
    """What the people have seen: HTTP statuses and seconds by kind of request, and seconds from question to answer."""

    codes: dict[str, Counter[str]] = field(default_factory=dict)
    seconds: dict[str, list[float]] = field(default_factory=dict)
    answers: list[float] = field(default_factory=list)
    unanswered: int = 0
    faults: Counter[str] = field(default_factory=Counter)

    def count(self, kind: str, code: int, seconds: float) -> None:
        """Count one response; 0 stands for a connection that failed."""
        name = "2xx, 3xx" if 200 <= code < 400 else str(code) if code in (429, 503) else "other"
        self.codes.setdefault(kind, Counter())[name] += 1
        self.seconds.setdefault(kind, []).append(seconds)
        if name == "other":
            self.faults[f"{kind}: {f'HTTP {code}' if code else 'no connection'}"] += 1


def report(asked: argparse.Namespace, tally: Tally, states: Sequence[State], began: datetime) -> None:
    """Print the tables, and whether the targets are met."""
    title = f"{asked.people} people for {asked.minutes:g} minutes on {asked.base}, {asked.processes} search processes"
    rows: list[tuple[object, ...]] = [
        (kind, *(tally.codes[kind][one] for one in CLASSES), *_times(tally.seconds[kind]))
        for kind in KINDS if kind in tally.codes
    ]  # fmt: skip
    rows.append(("from question to answer", len(tally.answers), "", "", tally.unanswered, *_times(tally.answers)))
    table(title, ("request", *CLASSES, "p50 s", "p95 s", "p99 s"), rows)
    show(f"They type for {TYPING[0]:g}–{TYPING[1]:g} s and read for {READING[1]:g} s on average.")
    for fault, number in tally.faults.most_common():
        show(f"{number} × {fault}")
    names = [*states[0].memory]
    columns = ("process", "MB at the start", "in the middle", "at the end", "growth %", "processor s", "ms an answer")
    table("Memory (proportional set size) and processor time", columns, [_row(name, tally, states) for name in names])
    show(
        f"The processors were busy for {_share(states):.0%} of the time, "
        f"{states[-1].own_seconds - states[0].own_seconds:.0f} s of it by the people's browsers."
    )
    _verdict(tally, began)


def _row(name: str, tally: Tally, states: Sequence[State]) -> tuple[object, ...]:
    memory = [one.memory for one in states]
    used = states[-1].seconds.get(name, 0.0) - states[0].seconds.get(name, 0.0)
    each = 1000 * used / len(tally.answers) if tally.answers else 0.0
    return (name, *(m.get(name, 0.0) for m in memory), grown(memory, name), used, each)


def _share(states: Sequence[State]) -> float:
    """Return the share of the machine's processors that anything used."""
    busy, idle = (states[-1].busy - states[0].busy), (states[-1].idle - states[0].idle)
    return busy / (busy + idle) if busy + idle else 0.0


def _times(seconds: Sequence[float]) -> tuple[str, str, str]:
    if len(seconds) < 2:
        return ("", "", "")
    cuts = statistics.quantiles(seconds, n=100, method="inclusive")
    return (f"{cuts[49]:.3f}", f"{cuts[94]:.3f}", f"{cuts[98]:.3f}")


def _verdict(tally: Tally, began: datetime) -> None:
    """Print one line for each target: errors, the time of the admitted, and the share of the refused."""
    runs = SearchRun.objects.filter(created__gte=began, origin=SearchRun.Origin.PAGE)
    states = dict(runs.values_list("status").annotate(Count("id")).order_by("status"))
    show(f"Searches by state: {', '.join(f'{number:,} {state}' for state, number in states.items())}.")
    errors = sum(tally.faults.values()) + tally.unanswered + states.get("failed", 0)
    show(f"Errors (no connection, another status, no answer, failed searches): {errors}; the target is 0.")
    p50, p95, _ = _times(tally.answers)
    show(f"From question to answer of admitted searches: p50 {p50} s, p95 {p95} s; the target is {TARGET_P95:g} s.")
    asked = tally.codes.get("ask", Counter())
    refused, all_asked = asked["429"] + asked["503"], sum(asked.values())
    share = refused / all_asked if all_asked else 0.0
    show(f"Refused, with the time to ask again: {refused:,} of {all_asked:,} questions, {share:.0%}.")
