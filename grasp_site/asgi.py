"""The web process: `uvicorn grasp_site.asgi:application`."""

import asyncio
import os
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from contextvars import copy_context
from importlib import import_module
from typing import IO, Any

import django
import structlog
from asgiref.sync import ThreadSensitiveContext
from django.conf import settings
from django.core import signals
from django.core.exceptions import RequestAborted
from django.core.handlers.asgi import ASGIHandler, get_script_prefix
from django.db import connections
from django.http.response import HttpResponseBase
from django.urls import set_script_prefix
from django.utils.module_loading import import_string

from grasp_site.body_limit import BodyLimit
from grasp_site.crowd_limit import LONGEST_FORM, CrowdLimit, WaitedTooLong, asks, comes_new
from grasp_site.lanes import Lanes
from search.downloads import FileAnswer, written
from search.services.garbage import leave_alone
from search.services.observing.rest import LENT

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "grasp_site.settings")

THREADS = 128
"""Maximum number of requests that have a thread.

A request that waits for a search keeps its thread; `watch_search.FOLLOWERS` limits the number of these requests.
"""
PLACES = 8
"""Maximum number of requests that work at the same time, where the database connections have no pool."""


class Application(ASGIHandler):
    """Django's ASGI handler, with each request answered on one thread of a pool from its start to its close.

    By default, Django starts a thread for every request and changes threads six times: for its signals, before and
    after synchronous middleware, and to close the response. The changes take longer than the answer to a small
    request. Here the event loop only reads the request and sends the answer. Streaming responses stay on the loop.
    """

    def load_middleware(self, is_async: bool = True) -> None:
        """Build the synchronous middleware chain and the pool on which it runs."""
        super().load_middleware(is_async=False)
        # A request that has a place never waits for a connection of the pool.
        self.lanes = Lanes(settings.DATABASE_POOL or PLACES)
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="request")

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer one request. Raises ValueError for a protocol other than HTTP."""
        if scope["type"] != "http":
            raise ValueError(f"The site answers HTTP only, not {scope['type']}.")
        try:
            body = await self.read_body(receive)
        except RequestAborted:
            return
        loop = asyncio.get_running_loop()
        await self._placed(scope, body)
        try:
            response = await loop.run_in_executor(self._threads, copy_context().run, self._answered, scope, body)
        finally:
            self.lanes.leave()
        if not response.streaming:
            await self.send_response(response, send)
            return
        try:
            async with ThreadSensitiveContext():
                await self._stream(response, receive, send)
        finally:
            await loop.run_in_executor(self._threads, self._end, response)

    async def _placed(self, scope: Any, body: IO[bytes]) -> None:
        """Wait for a place. Raises WaitedTooLong for a new search that has none after `GRASP_WEB_SECONDS`.

        A place that comes when the request has been given up goes to the next.
        """
        new = comes_new(scope)
        place = self.lanes.enter(new)
        longest = settings.GRASP_WEB_SECONDS if new and asks(scope) else 0
        try:
            async with asyncio.timeout(longest or None):
                await asyncio.wrap_future(place)
        except (asyncio.CancelledError, TimeoutError) as error:
            if not place.cancel():
                self.lanes.leave()
            if isinstance(error, TimeoutError):
                raise WaitedTooLong(longest, body.read(LONGEST_FORM + 1)) from None
            raise

    def _answered(self, scope: Any, body: IO[bytes]) -> Any:
        """Return the response to a request, closed unless it streams; the calling thread keeps no connection.

        Content that is made by synchronous code, which may read the database, is made here, on the request's own thread
        and in its place, and only then sent.
        """
        LENT.set(self.lanes.lent)
        set_script_prefix(get_script_prefix(scope))
        signals.request_started.send(sender=self.__class__, scope=scope)
        try:
            request, refused = self.create_request(scope, body)
            response: Any = refused if request is None else self.get_response(request)
            if response.streaming and not response.is_async and not isinstance(response, FileAnswer):
                response = written(response)
            response._handler_class = self.__class__
        finally:
            body.close()
            # The end of a streaming response comes later, and on another thread.
            connections.close_all()
        if not response.streaming:
            self._end(response)
        return response

    def _end(self, response: HttpResponseBase) -> None:
        """Close a response, which tells Django that the request has ended; whoever hears it may use the database."""
        try:
            response.close()
        finally:
            connections.close_all()

    async def _stream(self, response: HttpResponseBase, receive: Any, send: Any) -> None:
        """Send a streaming response, and stop when the caller goes away."""
        sending = asyncio.create_task(self.send_response(response, send))
        leaving = asyncio.create_task(self.listen_for_disconnect(receive))
        await asyncio.wait({sending, leaving}, return_when=asyncio.FIRST_COMPLETED)
        for task in (leaving, sending):
            task.cancel()
            with suppress(RequestAborted, asyncio.CancelledError):
                await task


def warm_up() -> None:
    """Load what pages need, without keeping the first requests waiting; what fails, a page will try again."""
    for path in settings.GRASP_WARM_UP_WEB:
        try:
            import_string(path)()
        except Exception as error:  # noqa: BLE001 -- a page that fails says so itself
            structlog.get_logger(__name__).warning("not warmed up", function=path, reason=str(error))


django.setup(set_prefix=False)
_site = Application()
application = CrowdLimit(
    BodyLimit(_site, settings.GRASP_UPLOAD_CHUNK_MEGABYTES << 20),
    web_wait=_site.lanes.waited,
    # These need the models, which are there from here on.
    queue_wait=import_string("grasp_site.queue_wait.QueueWait")(),
    longest_web=settings.GRASP_WEB_SECONDS,
    longest_queue=settings.GRASP_QUEUE_SECONDS,
    count=import_string("grasp_site.refusals.Refusals")().count,
)
import_module(settings.ROOT_URLCONF)
leave_alone()
# After all imports: two threads that import the same modules may each see the other's half.
threading.Thread(target=warm_up, name="warm-up", daemon=True).start()
