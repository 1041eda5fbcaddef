"""The web process: `uvicorn grasp_site.asgi:application`."""

import asyncio
import os
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from contextvars import copy_context
from functools import partial
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
from django.http import StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.urls import set_script_prefix
from django.utils.module_loading import import_string

from grasp_site.body_limit import BodyLimit
from grasp_site.crowd_limit import LONGEST_FORM, CrowdLimit, WaitedTooLong, asks, caller_of, comes_new
from grasp_site.lanes import LanePlace, Lanes, TooManyWaiting
from search.services.garbage import leave_alone
from search.services.observing.rest import GATHERED, LENT

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "grasp_site.settings")

THREADS = 128
"""Maximum number of requests that have a thread.

A request that waits for a search keeps its thread; `watch_search.FOLLOWERS` limits the number of these requests.
"""
_READS_ALL = StreamingHttpResponse.__aiter__
"""How Django sends synchronous content: it has another thread make all of it, whose connection nobody gives back."""
PLACES = 8
"""Maximum number of requests that work at the same time, where the database connections have no pool."""


class Application(ASGIHandler):
    """Django's ASGI handler, with each request answered on one thread of a pool from its start to its close.

    By default, Django starts a thread for every request and changes threads six times: for its signals, before and
    after synchronous middleware, and to close the response. The changes take longer than the answer to a small
    request. Here the event loop only reads the request and sends the answer. Streaming responses stay on the loop.
    """

    def __init__(
        self, queue_wait: Callable[[], float] = lambda: 0.0, count: Callable[[str, str], None] | None = None
    ) -> None:
        """`queue_wait` returns the seconds that a new search would wait for a worker; `count` counts refused ones."""
        super().__init__()
        self.queue_wait = queue_wait
        self._count = count

    def load_middleware(self, is_async: bool = True) -> None:
        """Build the synchronous middleware chain and the pool on which it runs."""
        super().load_middleware(is_async=False)
        # A request that has a place never waits for a connection of the pool.
        self.lanes = Lanes(settings.DATABASE_POOL or PLACES)
        self._written = import_string("search.downloads.written")
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="request")

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer one request. Raises ValueError for a protocol other than HTTP."""
        if scope["type"] != "http":
            raise ValueError(f"The site answers HTTP only, not {scope['type']}.")
        longest = settings.GRASP_WEB_SECONDS if asks(scope) else 0
        if longest and self.lanes.waited(caller_of(scope)) > longest:
            raise WaitedTooLong(longest)
        try:
            body = await self.read_body(receive)
        except RequestAborted:
            return
        loop = asyncio.get_running_loop()
        place = await self._placed(scope, body, longest)
        try:
            response = await loop.run_in_executor(self._threads, copy_context().run, self._answered, scope, body, place)
        finally:
            self.lanes.leave(place)
        if not response.streaming:
            await self.send_response(response, send)
            return
        try:
            async with ThreadSensitiveContext():
                await self._stream(response, receive, send)
        finally:
            await loop.run_in_executor(self._threads, self._end, response)

    async def _placed(self, scope: Any, body: IO[bytes], longest: float) -> LanePlace:
        """Wait for a place, at most `longest` seconds if it is not 0; return it.

        Raises WaitedTooLong if there is none by then, or if too many requests of the caller wait. A place that comes
        when the request has been given up goes to the next.
        """
        try:
            place = self.lanes.enter(comes_new(scope), caller_of(scope))
        except TooManyWaiting:
            raise WaitedTooLong(longest, body.read(LONGEST_FORM + 1)) from None
        if place.done():
            return place
        try:
            async with asyncio.timeout(longest or None):
                await asyncio.wrap_future(place)
        except (asyncio.CancelledError, TimeoutError) as error:
            if not place.cancel():
                self.lanes.leave(place)
            if isinstance(error, TimeoutError):
                raise WaitedTooLong(longest, body.read(LONGEST_FORM + 1)) from None
            raise
        # While it waited here, others have joined the queue of searches.
        if longest and settings.GRASP_QUEUE_SECONDS and self.queue_wait() > settings.GRASP_QUEUE_SECONDS:
            self.lanes.leave(place)
            raise WaitedTooLong(settings.GRASP_QUEUE_SECONDS, body.read(LONGEST_FORM + 1))
        return place

    def _answered(self, scope: Any, body: IO[bytes], place: LanePlace) -> Any:
        """Return the response to a request, closed unless it streams; the calling thread keeps no connection.

        Content that is made by synchronous code, which may read the database, is made here, on the request's own thread
        and in its place, and only then sent.
        """
        LENT.set(partial(self.lanes.lent, place))
        GATHERED.set(self._count)
        set_script_prefix(get_script_prefix(scope))
        signals.request_started.send(sender=self.__class__, scope=scope)
        try:
            request, refused = self.create_request(scope, body)
            response: Any = refused if request is None else self.get_response(request)
            if response.streaming and not response.is_async and type(response).__aiter__ is _READS_ALL:
                response = self._written(response)
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
# These need the models, which are there from here on.
_refusals = import_string("grasp_site.refusals.Refusals")()
_site = Application(import_string("grasp_site.queue_wait.of_searches")(), _refusals.count)
application = CrowdLimit(
    BodyLimit(_site, settings.GRASP_UPLOAD_CHUNK_MEGABYTES << 20),
    web_wait=_site.lanes.waited,
    queue_wait=_site.queue_wait,
    longest_web=settings.GRASP_WEB_SECONDS,
    longest_queue=settings.GRASP_QUEUE_SECONDS,
    count=_refusals.count,
)
import_module(settings.ROOT_URLCONF)
leave_alone()
# After all imports: two threads that import the same modules may each see the other's half.
threading.Thread(target=warm_up, name="warm-up", daemon=True).start()
