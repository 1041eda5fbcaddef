"""People who search in browsers at the same time: `python -m benchmarks people --people 200 --minutes 5`.

Each person opens the search page, types, asks by the form, follows the page of the search as the browser's script does,
reads the results, and asks the next question. Whoever is refused waits as long as `Retry-After` says and asks again.
The site runs as under `make run`, with as many processes that search as asked for. Each person has an own address: this
process stands in for a proxy in front.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import re
import time
from collections.abc import Sequence
from dataclasses import dataclass

import httpx2
import psutil
from django.utils import timezone

from benchmarks.bases import imported
from benchmarks.common import running
from benchmarks.memory import State, state
from benchmarks.people_report import READING, TYPING, Tally, report
from grasp_site.environment import usual_search_processes
from training.data.examples import read_examples

ARRIVAL = 15.0
"""Seconds in which the people come, one after the other. They are not measured."""
PATIENCE = 60.0
"""Seconds that a person waits for an answer before it counts as none."""
AGAIN = 0.2
"""Seconds between two questions for changes, as in the page (`hx-trigger`)."""
WARM, WARM_SECONDS = 40, 15.0
"""People who ask before the others, and for how long."""
_TOKEN = re.compile(r'name="csrfmiddlewaretoken" value="([^"]+)"')
_CHANGES = re.compile(r'id="live"[^>]* hx-get="([^"]+)"')


@dataclass(frozen=True, slots=True)
class Crowd:
    """What the people have in common."""

    address: str
    base: str
    questions: Sequence[str]
    tally: Tally
    begins: float
    ends: float
    arrival: float

    @property
    def counts(self) -> bool:
        """Whether it is the time that is measured."""
        return time.monotonic() >= self.begins


class Person:
    """One person with a browser: cookies, an address, and a choice of questions."""

    def __init__(self, crowd: Crowd, number: int) -> None:
        self._crowd = crowd
        self._draw = random.Random(number)
        address = f"10.{number // 65536}.{number // 256 % 256}.{number % 256}"
        self._browser = httpx2.AsyncClient(
            base_url=crowd.address,
            timeout=PATIENCE,
            headers={"X-Forwarded-For": address},
            # The server closes idle connections after five seconds; browsers ask again by themselves where both meet.
            limits=httpx2.Limits(keepalive_expiry=3.0),
        )

    async def search(self) -> None:
        """Ask one question after the other until the time is over."""
        async with self._browser:
            await asyncio.sleep(self._draw.uniform(0, self._crowd.arrival))
            page = await self._get("search page", "/")
            while await self._pause(self._draw.uniform(*TYPING)):
                page = await self._ask(page or "")
                least, mean, most = READING
                await self._pause(min(most, max(least, self._draw.expovariate(1 / mean))))

    async def _pause(self, seconds: float) -> bool:
        """Wait, at most until the time is over; return whether it goes on."""
        await asyncio.sleep(max(0.0, min(seconds, self._crowd.ends - time.monotonic())))
        return time.monotonic() < self._crowd.ends

    async def _ask(self, page: str) -> str | None:
        """Ask by the form of the page, follow the search to its end, and return the page that is then shown."""
        token = _TOKEN.search(page)
        if token is None:
            return await self._get("search page", "/")
        began = time.monotonic()
        form = {"kb": self._crowd.base, "q": self._draw.choice(self._crowd.questions), "pipeline": ""}
        answer = await self._send("ask", "POST", "/", form | {"csrfmiddlewaretoken": token[1]})
        if answer is None or answer.status_code in (429, 503):
            await self._pause(float(answer.headers.get("Retry-After", "5")) if answer is not None else 5.0)
            return page
        if answer.status_code != 302:
            return None
        shown = await self._get("page of the search", answer.headers["Location"])
        if shown is not None and await self._follow(shown, began):
            if self._crowd.counts:
                self._crowd.tally.answers.append(time.monotonic() - began)
        elif self._crowd.counts:
            self._crowd.tally.unanswered += 1
        return shown

    async def _follow(self, shown: str, began: float) -> bool:
        """Ask for changes as the page's script does, until the search has ended; return whether it did in time."""
        while changes := _CHANGES.search(shown):
            if time.monotonic() - began > PATIENCE:
                return False
            sent = time.monotonic()
            answer = await self._send("changes", "GET", changes[1].replace("&amp;", "&"))
            if answer is not None and answer.status_code == 200:
                shown = answer.text
            await asyncio.sleep(max(0.0, AGAIN - (time.monotonic() - sent)))
        return True

    async def _get(self, kind: str, path: str) -> str | None:
        answer = await self._send(kind, "GET", path)
        return answer.text if answer is not None and answer.status_code == 200 else None

    async def _send(
        self, kind: str, method: str, path: str, form: dict[str, str] | None = None
    ) -> httpx2.Response | None:
        began = time.monotonic()
        try:
            answer = await self._browser.request(method, path, data=form)
        except httpx2.HTTPError:
            answer = None
        if self._crowd.counts:
            self._crowd.tally.count(kind, answer.status_code if answer is not None else 0, time.monotonic() - began)
        return answer


def main(arguments: list[str] | None = None) -> None:
    """Print what the people have seen and how much memory the processes had at the start, in the middle, at the end."""
    asked = _arguments(arguments or [])
    name, folder = imported(asked.base)
    questions = [example.text for example in read_examples(folder / "questions.jsonl.gz", "val")]
    environment = {"TRUSTED_PROXIES": "127.0.0.1", "GRASP_SEARCH_PROCESSES": str(asked.processes)}
    with running(environment) as (address, _, supervisor):
        tally = Tally()
        asyncio.run(_crowded(Crowd(address, name, questions, Tally(), 0.0, time.monotonic() + WARM_SECONDS, 3.0), WARM))
        began = timezone.now()
        now = time.monotonic()
        crowd = Crowd(address, name, questions, tally, now + ARRIVAL, now + ARRIVAL + 60 * asked.minutes, ARRIVAL)
        states = asyncio.run(_measured(crowd, asked.people, supervisor))
        report(asked, tally, states, began)


def _arguments(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks people", description=__doc__)
    parser.add_argument("--people", type=int, default=200)
    parser.add_argument("--minutes", type=float, default=5.0)
    parser.add_argument("--base", default="movies", help="the knowledge base; imported if it is missing")
    parser.add_argument("--processes", type=int, default=usual_search_processes(), help="processes that search")
    return parser.parse_args(arguments)


async def _crowded(crowd: Crowd, people: int) -> None:
    await asyncio.gather(*(Person(crowd, number + 1).search() for number in range(people)))


async def _measured(crowd: Crowd, people: int, site: psutil.Process) -> list[State]:
    """Let the people search; return the state of the site's processes at the start, in the middle and at the end."""
    searching = asyncio.create_task(_crowded(crowd, people))
    found = []
    for moment in (crowd.begins, (crowd.begins + crowd.ends) / 2, crowd.ends):
        await asyncio.sleep(max(0.0, moment - time.monotonic()))
        found.append(await asyncio.to_thread(state, [site]))
    await searching
    return found
