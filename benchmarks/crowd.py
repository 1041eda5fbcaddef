"""Programs that ask all at the same time: `python -m benchmarks crowd --clients 1,4,50,500 --seconds 20`.

Each client keeps a connection open, asks one question after the other with `?wait`, and whoever is refused asks again
after `Retry-After`. Each has an own address: this process stands in for a proxy in front. The table says how many
searches a second were answered, as a share of the best row too: refusing a crowd should cost the others nothing.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from urllib.parse import urlsplit

import psutil

from benchmarks.bases import imported
from benchmarks.common import percentiles, running, show, table
from benchmarks.http import processor_seconds
from training.data.examples import read_examples

WAIT = 25
"""Seconds that a client waits for an answer."""
ARRIVAL = 1.0
"""Seconds in which the clients come, one after the other."""
WARM, WARM_SECONDS = 4, 10.0
"""Clients that ask before all others, unmeasured, and for how long."""
BETWEEN_SECONDS = 3.0
"""Seconds for which they ask between two measurements."""
UNLIMITED = {"TRUSTED_PROXIES": "127.0.0.1", "GRASP_SEARCHES_PER_MINUTE": "0"}


@dataclass
class Outcome:
    """What the clients of one measurement have seen: seconds of each answer, and the number of each other status."""

    clients: int
    seconds: float
    answers: list[float] = field(default_factory=list)
    all: int = 0
    """Answers, with those before and after the time that is measured."""
    others: Counter[int] = field(default_factory=Counter)
    processor: float = 0.0
    """Seconds of processor time of the site's processes."""

    @property
    def rate(self) -> float:
        """Answered searches a second."""
        return len(self.answers) / self.seconds


class Client:
    """A program that asks over one connection, and obeys `Retry-After`."""

    def __init__(self, address: str, number: int, base: str, questions: Sequence[str]) -> None:
        place = urlsplit(address)
        self._host, self._port = place.hostname or "", place.port or 80
        self._number = number
        self._base = base
        self._questions = questions

    async def ask(self, begins: float, ends: float, outcome: Outcome) -> None:
        """Ask until the time is over; count what comes between `begins` and `ends`."""
        await asyncio.sleep(ARRIVAL * (self._number % 100) / 100)
        reader, writer = await asyncio.open_connection(self._host, self._port)
        turn = 0
        while time.monotonic() < ends:
            question = self._questions[(self._number * 37 + turn) % len(self._questions)]
            turn += 1
            began = time.monotonic()
            status, again = await self._once(reader, writer, question)
            now = time.monotonic()
            outcome.all += status == 201
            if begins <= now < ends and status == 201:
                outcome.answers.append(now - began)
            elif begins <= now < ends:
                outcome.others[status] += 1
            if again:
                await asyncio.sleep(min(again, max(0.0, ends - now)))
        writer.close()

    async def _once(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, question: str
    ) -> tuple[int, float]:
        """Ask one question; return the status of the answer, and the seconds after which to ask again."""
        body = json.dumps({"knowledge_base": self._base, "question": question}).encode()
        address = f"10.{self._number // 65536}.{self._number // 256 % 256}.{self._number % 256}"
        writer.write(
            f"POST /api/v1/searches/?wait={WAIT} HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Forwarded-For: {address}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n".encode()
            + body
        )
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:])}
        if "content-length" in headers:
            await reader.readexactly(int(headers["content-length"]))
        else:
            while size := int(await reader.readline(), 16):
                await reader.readexactly(size + 2)
            await reader.readline()
        return int(head[0].split()[1]), float(headers.get("retry-after", 0))


def main(arguments: list[str] | None = None) -> None:
    """Print the table for each number of clients; the rounds are measured one after the other and added up."""
    asked = _arguments(arguments or [])
    name, folder = imported(asked.base)
    questions = [example.text for example in read_examples(folder / "questions.jsonl.gz", "val")]
    with running(UNLIMITED) as (address, _, supervisor):
        measure(address, supervisor, WARM, WARM_SECONDS, name, questions)
        found: list[Outcome] = []
        for _ in range(asked.rounds):
            for clients in asked.clients:
                found.append(measure(address, supervisor, clients, asked.seconds, name, questions))
                measure(address, supervisor, WARM, BETWEEN_SECONDS, name, questions)
        report(f"{name}, {asked.rounds} × {asked.seconds:g} s", found)


def _arguments(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks crowd", description=__doc__)
    parser.add_argument("--clients", type=lambda text: [int(one) for one in text.split(",")], default=[1, 4, 50, 500])
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--base", default="movies", help="the knowledge base; imported if it is missing")
    return parser.parse_args(arguments)


def measure(
    address: str, supervisor: psutil.Process, clients: int, seconds: float, base: str, questions: Sequence[str]
) -> Outcome:
    """Let so many clients ask for some seconds."""
    outcome = Outcome(clients, seconds)
    before = processor_seconds(supervisor)

    async def crowd() -> None:
        begins = time.monotonic() + ARRIVAL
        people = (Client(address, number, base, questions) for number in range(clients))
        await asyncio.gather(*(one.ask(begins, begins + seconds, outcome) for one in people))

    asyncio.run(crowd())
    after = processor_seconds(supervisor)
    outcome.processor = sum(after[part] - before.get(part, 0.0) for part in after if part != "this client")
    return outcome


def report(title: str, found: Sequence[Outcome]) -> None:
    """Print a row for each number of clients."""
    rows = []
    for clients in dict.fromkeys(one.clients for one in found):
        own = [one for one in found if one.clients == clients]
        answers = [seconds for one in own for seconds in one.answers]
        others = sum((one.others for one in own), Counter[int]())
        p50, p95 = percentiles(answers) if answers else (0.0, 0.0)
        rate = len(answers) / sum(one.seconds for one in own)
        refused = others.pop(503, 0) + others.pop(429, 0)
        cost = 1000 * sum(one.processor for one in own) / max(1, sum(one.all for one in own))
        rows.append((clients, rate, refused, sum(others.values()), p50, p95, cost))
    best = max(row[1] for row in rows) or 1.0
    table(
        title,
        ("clients", "answered a second", "% of the best", "refused", "other", "p50 ms", "p95 ms", "processor ms"),
        [(clients, rate, f"{rate / best:.0%}", *more) for clients, rate, *more in rows],
    )
    show(
        "p50, p95: from the request to the last byte of an answer. Processor ms: of the site, refusals included, for an"
    )
    show("answer; that says what a refusal costs also where other programs use the machine.")
