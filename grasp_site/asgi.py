"""The web process: `uvicorn grasp_site.asgi:application`."""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import django
from asgiref.sync import sync_to_async
from django.core.handlers.asgi import ASGIHandler
from django.db import close_old_connections
from django.http import HttpRequest
from django.http.response import HttpResponseBase

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "grasp_site.settings")

THREADS = 128
"""Requests that are worked on at once: those that follow a search are held, see `watch_search.FOLLOWERS`."""


class Application(ASGIHandler):
    """Django, with all of a request's middleware and its view on one thread of a pool.

    Django otherwise changes threads before and after most middleware, each of which is written for threads, and starts
    a new one for every request: that takes longer than the answer to a small question. Streams stay on the loop.
    """

    def load_middleware(self, is_async: bool = True) -> None:
        """Build the chain for threads, and hand it to the loop as one call."""
        super().load_middleware(is_async=False)
        answer: Callable[[HttpRequest], HttpResponseBase] = self._middleware_chain  # type: ignore[has-type]

        def answered(request: HttpRequest) -> HttpResponseBase:
            try:
                return answer(request)
            finally:
                # Django tidies up on a thread of its own.
                close_old_connections()

        threads = ThreadPoolExecutor(THREADS, thread_name_prefix="request")
        self._middleware_chain = sync_to_async(answered, thread_sensitive=False, executor=threads)


django.setup(set_prefix=False)
application = Application()
