"""serve: the process that asks questions for an evaluation or a training in another process.

Nothing of Django's models is imported before `django.setup()`, because this module is imported first in the process.
"""

from __future__ import annotations

import os
import traceback
from multiprocessing.connection import Connection
from typing import Any

import django
from django.conf import settings
from django.db import DatabaseError, connections
from django.utils.module_loading import import_string

from search.domain.errors import StageError

ANSWERER = "training.services.evaluations.ask.Answerer"
"""What answers the messages, unless another one is named."""
LOST_SESSION = "search.services.searches.lost_session.lost_session"


def serve(channel: Connection, database: dict[str, Any], answerer_name: str = ANSWERER, threads: int = 0) -> None:
    """Answer messages until the other end closes the channel: first the pins, then lists of tasks.

    `database` holds the settings of the database that differ from those of a new process. `answerer_name` is the
    dotted path of a class like `Answerer`. `threads` is the number of threads that one computation uses; with 0 it is
    the number of processors, and the processes wait for each other. The reply is
    `("ready", unbuilt)` after the pins (`Unbuilt`), then `("asked", [Asked, …])` for each list; or
    `("unavailable", stage, reason, permanent)`, `("lost", reason)` if Postgres ended the session, or
    `("broken", traceback)`. After the last three the process ends.
    """
    if threads:
        # Libraries read this when they are loaded, which nothing has done yet.
        os.environ["OMP_NUM_THREADS"] = str(threads)
    django.setup()
    settings.DATABASES["default"].update(database)
    connections["default"].settings_dict.update(database)
    try:
        answerer = import_string(answerer_name)(channel.recv())
        channel.send(("ready", answerer.compose()))
        while True:
            tasks = channel.recv()
            channel.send(("asked", [answerer.ask(task, _never) for task in tasks]))
    except EOFError:
        return
    except (BrokenPipeError, ConnectionResetError):
        return
    except BaseException as error:
        if isinstance(error, StageError | DatabaseError) and import_string(LOST_SESSION)(error):
            channel.send(("lost", str(error)))
        elif isinstance(error, StageError):
            channel.send(("unavailable", error.stage, error.reason, error.permanent))
        else:
            channel.send(("broken", traceback.format_exc()))
            raise


def _never() -> bool:
    """Return False: the process is ended from outside when the evaluation is cancelled."""
    return False
