"""The web process: `uvicorn grasp_site.asgi:application`."""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import django
from asgiref.sync import sync_to_async
from django.conf import settings
from django.core.handlers.asgi import ASGIHandler
from django.db import close_old_connections
from django.http import HttpRequest
from django.http.response import HttpResponseBase

from grasp_site.body_limit import BodyLimit

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "grasp_site.settings")

THREADS = 128
"""Maximum number of requests that run at the same time.

A request that waits for a search keeps its thread; `watch_search.FOLLOWERS` limits the number of these requests.
"""


class Application(ASGIHandler):
    """Django's ASGI handler that runs the whole middleware and the view of a request on one thread of a pool.

    By default, Django starts a new thread for every request and changes threads before and after most middleware,
    because this middleware is synchronous. The changes take longer than the answer to a small request. Streaming
    responses stay on the event loop.
    """

    def load_middleware(self, is_async: bool = True) -> None:
        """Build the synchronous middleware chain, and wrap it as one asynchronous call that runs on the pool."""
        super().load_middleware(is_async=False)
        answer: Callable[[HttpRequest], HttpResponseBase] = self._middleware_chain  # type: ignore[has-type]

        def answered(request: HttpRequest) -> HttpResponseBase:
            try:
                return answer(request)
            finally:
                # Django closes old connections on another thread, which does not have this thread's connections.
                close_old_connections()

        threads = ThreadPoolExecutor(THREADS, thread_name_prefix="request")
        self._middleware_chain = sync_to_async(answered, thread_sensitive=False, executor=threads)


django.setup(set_prefix=False)
application = BodyLimit(Application(), settings.GRASP_UPLOAD_CHUNK_MEGABYTES << 20)
