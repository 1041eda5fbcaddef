"""Grasp: the client for programs without asyncio."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from types import TracebackType
from typing import Any, Self, TypeVar
from uuid import UUID

import httpx

from grasp_search_client import common
from grasp_search_client.common import Event, EventLines, NotFinished, PageOf, error_of, parsed
from grasp_search_client.generated.api.knowledge_bases import knowledge_bases_list, nodes_list
from grasp_search_client.generated.api.searches import searches_cancel, searches_create, searches_retrieve
from grasp_search_client.generated.models.knowledge_base import KnowledgeBase
from grasp_search_client.generated.models.node_reference import NodeReference
from grasp_search_client.generated.models.search import Search
from grasp_search_client.generated.types import UNSET, Response

T = TypeVar("T")


class Grasp:
    """A GRASP search site at `url`, asked with an API token, or as a visitor without one.

    `timeout` is in seconds and holds for each request. `httpx_args` go to `httpx.Client`, such as `verify` or `proxy`.
    `api` is the generated client, for the functions of `grasp_search_client.generated.api`.
    """

    def __init__(
        self, url: str, token: str | None = None, *, timeout: float = 60.0, httpx_args: Mapping[str, Any] | None = None
    ) -> None:
        self.api = common.client_of(url, token, timeout, httpx_args)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self.api.get_httpx_client().close()

    def request(
        self,
        question: str,
        knowledge_base: str | None = None,
        *,
        pipeline: str | None = None,
        k: int = 20,
        plan: Mapping[str, Any] | None = None,
        settings: Mapping[str, Any] | None = None,
        follows: UUID | str | None = None,
        wait: float = 0.0,
    ) -> Search:
        """Request a search and return it, finished or not; the site waits up to `wait` seconds for its end.

        Raises GraspError with every fault of the request, and TooMany at a limit.
        """
        body = common.request_body(question, knowledge_base, pipeline, k, plan, settings, follows)
        return parsed(searches_create.sync_detailed(client=self.api, body=body, wait=wait or UNSET))

    def ask(
        self,
        question: str,
        knowledge_base: str | None = None,
        *,
        pipeline: str | None = None,
        k: int = 20,
        plan: Mapping[str, Any] | None = None,
        settings: Mapping[str, Any] | None = None,
        follows: UUID | str | None = None,
        seconds: float = 120.0,
    ) -> Search:
        """Request a search and return it when it has ended. Raises what `request` and `wait` raise."""
        search = self.request(
            question, knowledge_base, pipeline=pipeline, k=k, plan=plan, settings=settings, follows=follows,
            wait=min(seconds, common.LONGEST_WAIT),
        )  # fmt: skip
        return search if search.status in common.ENDED else self.wait(search.id, seconds=seconds)

    def wait(self, search_id: UUID | str, *, seconds: float = 120.0) -> Search:
        """Return a search when it has ended; raises NotFinished after `seconds`."""
        end = time.monotonic() + seconds
        while (search := self.search(search_id)).status not in common.ENDED:
            if time.monotonic() >= end:
                raise NotFinished(search, seconds)
            time.sleep(common.POLL)
        return search

    def search(self, search_id: UUID | str, *, reword: bool = False) -> Search:
        """Return the present state of a search; `reword` asks for its written answer in a language model's words."""
        asked = reword or UNSET
        return parsed(searches_retrieve.sync_detailed(UUID(str(search_id)), client=self.api, reword=asked))

    def cancel(self, search_id: UUID | str) -> Search:
        """Ask a search to stop, and return it."""
        return parsed(searches_cancel.sync_detailed(UUID(str(search_id)), client=self.api))

    def events(self, search_id: UUID | str) -> Iterator[Event]:
        """Yield what happens in a search until it has ended; a lost connection is taken up where it was lost."""
        http, lines, lost = self.api.get_httpx_client(), EventLines(), 0
        while True:
            headers = {"Last-Event-ID": lines.last} if lines.last else {}
            try:
                with http.stream("GET", f"/api/v1/searches/{search_id}/events/", headers=headers) as answer:
                    if answer.status_code == 204:
                        return
                    if answer.status_code != 200:
                        raise error_of(answer.status_code, answer.headers, None)
                    for line in answer.iter_lines():
                        for event in lines.read(line):
                            lost = 0
                            yield event
                            if event.kind == "done":
                                return
            except httpx.TransportError:
                lost += 1
                if lost > common.MOST_LOST:
                    raise
            time.sleep(common.POLL)

    def pages(self, call: Callable[..., Response[Any]], *arguments: Any, **named: Any) -> Iterator[Any]:
        """Yield every entry of a list, page by page: `pages(jobs_list.sync_detailed)`."""
        number = 1
        while True:
            page: PageOf[Any] = parsed(call(*arguments, client=self.api, page=number, page_size=common.PAGE, **named))
            yield from page.results
            if page.next_ is None:
                return
            number += 1

    def knowledge_bases(self) -> Iterator[KnowledgeBase]:
        """Yield the knowledge bases that the caller may search."""
        yield from self.pages(knowledge_bases_list.sync_detailed)

    def nodes(self, knowledge_base: str, prefix: str = "", node_type: str = "") -> Iterator[NodeReference]:
        """Yield the nodes whose name begins with `prefix`, in the order of their names."""
        yield from self.pages(
            nodes_list.sync_detailed, knowledge_base, prefix=prefix or UNSET, type_=node_type or UNSET
        )
