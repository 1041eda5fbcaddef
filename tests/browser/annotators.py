"""Annotators at work in real browsers whose network is cut at random; for the tests and `python -m benchmarks`."""

from __future__ import annotations

import random
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import cycle

from playwright.sync_api import Browser, BrowserContext, Error, Page, Route, expect

KEYS = ("0", "1", "2", "3", "u", "s")
WEIGHTS = (20, 20, 20, 20, 6, 3)
PATIENCE = 20_000
"""Milliseconds until the next item is shown."""
READY = "document.querySelector('main').dataset.state"


@dataclass
class Annotator:
    """One person in one browser: what was pressed for which item, and how often the network was cut."""

    name: str
    context: BrowserContext
    page: Page
    chance: random.Random
    said: dict[int, str] = field(default_factory=dict)
    offline: bool = False
    changes_in: int = 3
    """Steps until the network is cut, or is there again: drawn, but never so many that nothing is cut."""
    cuts: int = 0
    reopened: int = 0
    undone: int = 0
    lost_answers: int = 0

    @property
    def state(self) -> str:
        """What the page shows: `loading`, `ready`, `saving` or `empty`."""
        return str(self.page.evaluate(READY))

    def unsent(self) -> int:
        """Judgements that wait in this browser."""
        return int(self.page.locator("#unsent").get_attribute("data-count") or 0)

    def network(self, there: bool) -> None:
        """Cut the network of this browser, or give it back."""
        self.cuts += self.offline is False and not there
        self.offline = not there
        self.context.set_offline(not there)

    def step(self) -> None:
        """Judge the item that is shown, and now and then undo, cut the network, or close the tab and open it again."""
        self.changes_in -= 1
        if not self.changes_in:
            self.network(self.offline)
            self.changes_in = self.chance.randint(2, 6)
        if not self.offline and self.chance.random() < 0.02:
            self.reopen()
        if self.state != "ready":
            if self.state == "empty" and self.chance.random() < 0.1:
                # People who are told that nothing is left look again a moment later.
                self.network(True)
                self.reopen()
            self.page.wait_for_timeout(50)
            return
        if self.said and self.chance.random() < 0.04:
            self.undo()
        item = int(self.page.locator("main").get_attribute("data-item") or 0)
        if not item or self.state != "ready":
            return
        key = self.chance.choices(KEYS, WEIGHTS)[0]
        self.page.keyboard.press(key)
        expect(self.page.locator("main")).not_to_have_attribute("data-item", str(item), timeout=PATIENCE)
        self.said[item] = key

    def undo(self) -> None:
        """Take the last judgement back; its item is shown again."""
        before = self.page.locator("main").get_attribute("data-item")
        self.page.keyboard.press("z")
        expect(self.page.locator("main")).not_to_have_attribute("data-item", before or "", timeout=PATIENCE)
        again = int(self.page.locator("main").get_attribute("data-item") or 0)
        self.undone += self.said.pop(again, None) is not None

    def reopen(self) -> None:
        """Close the tab, whatever waits in it, and open another one."""
        address = self.page.url
        self.page.close()
        self.page = self.context.new_page()
        self.page.goto(address)
        self.reopened += 1


def enter(browser: Browser, base_url: str, name: str, password: str, address: str, seed: int) -> Annotator:
    """Return an annotator who is signed in and looks at a queue."""
    context = browser.new_context(base_url=base_url, viewport={"width": 1280, "height": 900})
    page = context.new_page()
    page.goto(f"/account/sign-in/?next={address}")
    page.locator("input[name=username]").fill(name)
    page.locator("input[name=password]").fill(password)
    page.locator("input[name=password]").press("Enter")
    page.wait_for_url(f"**{address}")
    person = Annotator(name, context, page, random.Random(seed))
    lose_answers(person)
    return person


def lose_answers(person: Annotator) -> None:
    """Let every tenth judgement reach the site while its answer is lost on the way back."""

    def handle(route: Route) -> None:
        if person.chance.random() < 0.1 and not person.offline:
            person.lost_answers += 1
            with suppress(Error):
                route.fetch()
            with suppress(Error):
                route.abort()
        else:
            route.continue_()

    person.context.route("**/annotation/judgements/", handle)


def work(people: Sequence[Annotator], queue: int, most: int) -> None:
    """Let the people judge in turns until nothing is left for anybody, and until nothing waits in any browser.

    Raises TimeoutError after `most` steps.
    """
    for number, person in enumerate(cycle(people)):
        if number >= most:
            raise TimeoutError(f"Not all is judged after {most} steps.")
        if person.state == "empty" and not any(_left(one, queue) or one.unsent() for one in people):
            return
        person.step()


def _left(person: Annotator, queue: int) -> int:
    person.network(True)
    return int(person.context.request.get(f"/api/v1/annotation/queues/{queue}/").json()["progress"]["left"])
