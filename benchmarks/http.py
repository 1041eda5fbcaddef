"""Measures searches over HTTP with one user, then with fifty at once, and the time of each part of a search.

The site runs as under `make run`. The users are threads of this process with connections that stay open. The benchmark
measures processor time as well as elapsed time. The processor time gives the number of searches a second of a machine
that runs nothing else.
"""

from __future__ import annotations

import http.client
import json
import os
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from urllib.parse import urlsplit

import psutil

from benchmarks.bases import imported
from benchmarks.common import percentiles, running, show, table
from search.models import SearchRun
from training.data.examples import read_examples

BASE = os.environ.get("BENCH_BASE", "movies")
ALONE = 200
"""Number of searches of the one user."""
USERS = 50
SEARCHES = 2_000
"""Number of searches of the fifty users together."""
WARM = 100
PATIENCE = 30
"""Seconds that a user waits for an answer."""
UNLIMITED = "1000000"
PROCESSES = {"uvicorn": "web", "search_worker": "search worker", "postgres": "Postgres", "valkey-server": "Valkey"}


@dataclass(frozen=True, slots=True)
class Answer:
    """The response to one request: HTTP status, the id and status of its search, seconds until the last byte."""

    code: int
    run: str
    status: str
    seconds: float


def main() -> None:
    """Print latency and throughput of searches over HTTP, processor time by process, and time by part of a search."""
    name, folder = imported(BASE)
    examples = read_examples(folder / "questions.jsonl.gz", "val")
    questions = [example.text for example in examples]
    with running({"GRASP_SEARCHES_PER_MINUTE": UNLIMITED}) as (address, _, supervisor):
        _ask_all(address, name, _taken(questions, WARM, 0), users=4)
        for users, count in ((1, ALONE), (USERS, SEARCHES)):
            before = processor_seconds(supervisor)
            began = time.perf_counter()
            answers = _ask_all(address, name, _taken(questions, count, WARM), users)
            seconds = time.perf_counter() - began
            after = processor_seconds(supervisor)
            _report(users, answers, seconds, {part: after[part] - before.get(part, 0.0) for part in after})


def _taken(questions: Sequence[str], count: int, first: int) -> list[str]:
    """Return `count` questions, spread evenly over all, from position `first`; they repeat if there are fewer."""
    step = max(1, len(questions) // max(count, 1))
    return [questions[(first + at * step) % len(questions)] for at in range(count)]


def _ask_all(address: str, base: str, questions: Sequence[str], users: int) -> list[Answer]:
    """Ask the questions with parallel users, and return the answers. Each user asks one question at a time."""
    waiting, answers, lock = list(reversed(questions)), [], threading.Lock()

    def user() -> None:
        with _connected(address) as asked:
            while True:
                with lock:
                    if not waiting:
                        return
                    question = waiting.pop()
                answer = _ask(asked, base, question)
                with lock:
                    answers.append(answer)

    crowd = [threading.Thread(target=user) for _ in range(users)]
    for one in crowd:
        one.start()
    for one in crowd:
        one.join()
    return answers


class _connected:
    """A connection that stays open from one request to the next."""

    def __init__(self, address: str) -> None:
        place = urlsplit(address)
        self._connection = http.client.HTTPConnection(place.hostname or "", place.port, timeout=PATIENCE)

    def __enter__(self) -> http.client.HTTPConnection:
        return self._connection

    def __exit__(self, *_: object) -> None:
        self._connection.close()


def _ask(connection: http.client.HTTPConnection, base: str, question: str) -> Answer:
    body = json.dumps({"knowledge_base": base, "question": question}).encode()
    began = time.perf_counter()
    try:
        connection.request("POST", f"/api/v1/searches/?wait={PATIENCE - 5}", body, {"Content-Type": "application/json"})
        response = connection.getresponse()
        content = response.read()
    except (OSError, http.client.HTTPException) as error:
        connection.close()
        return Answer(0, "", type(error).__name__, time.perf_counter() - began)
    seconds = time.perf_counter() - began
    told = json.loads(content)
    return Answer(response.status, told.get("id", ""), told.get("status", told.get("title", "")), seconds)


def _report(users: int, answers: Sequence[Answer], seconds: float, processor: dict[str, float]) -> None:
    good = [answer for answer in answers if answer.code == 201 and answer.status == "done"]
    faults = sorted({f"HTTP {a.code}, {a.status}" for a in answers if a not in good})
    who = "1 user" if users == 1 else f"{users} users"
    if faults:
        show(f"{len(answers) - len(good)} of {len(answers)} searches went wrong: {'; '.join(faults)}")
    if not good:
        return
    rows = [("whole request", *percentiles([answer.seconds for answer in good]))]
    rows += [(part, *percentiles(times)) for part, times in _parts(good).items()]
    title = f"{BASE} over HTTP, {who}: {len(good):,} searches, {len(good) / seconds:,.1f} a second"
    table(f"{title}, {len(answers) - len(good)} errors", ("part", "p50 ms", "p95 ms"), rows)
    costs = [(part, 1000 * spent / len(good)) for part, spent in processor.items()]
    whole = sum(cost for _, cost in costs)
    costs.append(("together", whole))
    table(f"Processor time of a search, {who}", ("process", "ms a search"), costs)
    show(f"{os.cpu_count()} cores that do nothing else: {1000 * (os.cpu_count() or 1) / whole:,.0f} searches a second")


def _parts(answers: Sequence[Answer]) -> dict[str, list[float]]:
    """Return the seconds of each part of the searches, from their rows; other parts result from subtraction."""
    runs = SearchRun.objects.in_bulk([answer.run for answer in answers])
    parts: dict[str, list[float]] = {}
    for answer in answers:
        run = runs[_uuid(answer.run)]
        assert run.started is not None
        assert run.finished is not None
        assert run.seconds is not None
        own, queued = run.seconds, (run.started - run.created).total_seconds()
        parts.setdefault("above the search's own time", []).append(answer.seconds - own)
        parts.setdefault("  until a worker took it", []).append(queued)
        closing = (run.finished - run.started).total_seconds() - own
        parts.setdefault("  taking and closing the run", []).append(max(0.0, closing))
        parts.setdefault("  web: request, wait, answer", []).append(answer.seconds - own - queued - closing)
        parts.setdefault("the search's own time", []).append(own)
    for name, times in _steps(runs).items():
        parts[f"  {name}"] = times
    return parts


def _steps(runs: dict[object, SearchRun]) -> dict[str, list[float]]:
    found: dict[str, list[float]] = {}
    for run_id in runs:
        for name, seconds in runs[run_id].steps.order_by("position").values_list("name", "seconds"):
            found.setdefault(name, []).append(seconds)
    return found


def _uuid(text: str) -> object:
    return SearchRun._meta.pk.to_python(text)


def processor_seconds(supervisor: psutil.Process) -> dict[str, float]:
    """Return seconds of processor time by process, with this process and Postgres' ended child processes."""
    own = psutil.Process()
    found = {"this client": sum(own.cpu_times()[:2])}
    for child in _ours(supervisor):
        # Backends of Postgres come and go.
        with suppress(psutil.NoSuchProcess):
            command = " ".join(child.cmdline())
            name = next((shown for part, shown in PROCESSES.items() if part in command), None)
            if name:
                found[name] = found.get(name, 0.0) + sum(child.cpu_times()[: 4 if name == "Postgres" else 2])
    return found


def _ours(supervisor: psutil.Process) -> Iterator[psutil.Process]:
    """Yield every process of the site: the supervisor's, and services that another process may have started."""
    home = os.environ["GRASP_HOME"]
    for process in psutil.process_iter():
        try:
            family = [process, *process.parents()]
            if supervisor in family or any(home in " ".join(one.cmdline()) for one in family):
                yield process
        except psutil.Error:
            continue
