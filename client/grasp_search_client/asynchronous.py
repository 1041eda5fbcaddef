"""AsyncGrasp: the client for programs with asyncio; the same as Grasp, with `await` and `async for`."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
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


class AsyncGrasp:
    """A GRASP search site at `url`, asked with an API token, or as a visitor without one.

    `timeout` is in seconds and holds for each request. `httpx_args` go to `httpx.AsyncClient`, such as `proxy`.
    `api` is the generated client, for the functions of `grasp_search_client.generated.api`.
    """

    def __init__(
        self, url: str, token: str | None = None, *, timeout: float = 60.0, httpx_args: Mapping[str, Any] | None = None
    ) -> None:
        self.api = common.client_of(url, token, timeout, httpx_args)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the connections."""
        await self.api.get_async_httpx_client().aclose()

    async def request(
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
        return parsed(await searches_create.asyncio_detailed(client=self.api, body=body, wait=wait or UNSET))

    async def ask(
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
        search = await self.request(
            question, knowledge_base, pipeline=pipeline, k=k, plan=plan, settings=settings, follows=follows,
            wait=min(seconds, common.LONGEST_WAIT),
        )  # fmt: skip
        return search if search.status in common.ENDED else await self.wait(search.id, seconds=seconds)

    async def wait(self, search_id: UUID | str, *, seconds: float = 120.0) -> Search:
        """Return a search when it has ended; raises NotFinished after `seconds`."""
        end = time.monotonic() + seconds
        while (search := await self.search(search_id)).status not in common.ENDED:
            if time.monotonic() >= end:
                raise NotFinished(search, seconds)
            await asyncio.sleep(common.POLL)
        return search

    async def search(self, search_id: UUID | str, *, reword: bool = False) -> Search:
        """Return the present state of a search; `reword` asks for its written answer in a language model's words."""
        asked = reword or UNSET
        return parsed(await searches_retrieve.asyncio_detailed(UUID(str(search_id)), client=self.api, reword=asked))

    async def cancel(self, search_id: UUID | str) -> Search:
        """Ask a search to stop, and return it."""
        return parsed(await searches_cancel.asyncio_detailed(UUID(str(search_id)), client=self.api))

    async def events(self, search_id: UUID | str) -> AsyncIterator[Event]:
        """Yield what happens in a search until it has ended; a lost connection is taken up where it was lost."""
        http, lines, lost = self.api.get_async_httpx_client(), EventLines(), 0
        while True:
            headers = {"Last-Event-ID": lines.last} if lines.last else {}
            try:
                async with http.stream("GET", f"/api/v1/searches/{search_id}/events/", headers=headers) as answer:
                    if answer.status_code == 204:
                        return
                    if answer.status_code != 200:
                        raise error_of(answer.status_code, answer.headers, None)
                    async for line in answer.aiter_lines():
                        for event in lines.read(line):
                            lost = 0
                            yield event
                            if event.kind == "done":
                                return
            except httpx.TransportError:
                lost += 1
                if lost > common.MOST_LOST:
                    raise
            await asyncio.sleep(common.POLL)

    async def pages(
        self, call: Callable[..., Awaitable[Response[Any]]], *arguments: Any, **named: Any
    ) -> AsyncIterator[Any]:
        """Yield every entry of a list, page by page: `pages(jobs_list.asyncio_detailed)`."""
        number = 1
        while True:
            page: PageOf[Any] = parsed(
                await call(*arguments, client=self.api, page=number, page_size=common.PAGE, **named)
            )
            for entry in page.results:
                yield entry
            if page.next_ is None:
                return
            number += 1

    async def knowledge_bases(self) -> AsyncIterator[KnowledgeBase]:
        """Yield the knowledge bases that the caller may search."""
        async for base in self.pages(knowledge_bases_list.asyncio_detailed):
            yield base

    async def nodes(self, knowledge_base: str, prefix: str = "", node_type: str = "") -> AsyncIterator[NodeReference]:
        """Yield the nodes whose name begins with `prefix`, in the order of their names."""
        named = {"prefix": prefix or UNSET, "type_": node_type or UNSET}
        async for node in self.pages(nodes_list.asyncio_detailed, knowledge_base, **named):
            yield node
