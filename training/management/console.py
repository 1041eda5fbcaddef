"""Arguments and error messages of the training commands."""

from __future__ import annotations

import sys
from argparse import ArgumentTypeError
from collections.abc import Iterator
from contextlib import contextmanager

from django.core.management.base import OutputWrapper

from search.domain.errors import InvalidRequest, SearchError, StageError
from training.data.examples import BadQuestions


def positive(text: str) -> int:
    """Return the whole number, at least 1, that a text holds. Raises ArgumentTypeError for other texts."""
    if not text.isdecimal() or int(text) < 1:
        raise ArgumentTypeError(f"a whole number from 1 on, not {text!r}")
    return int(text)


def whole(text: str) -> int:
    """Return the whole number from 0 on that a text holds. Raises ArgumentTypeError for other texts."""
    if not text.isdecimal():
        raise ArgumentTypeError(f"a whole number from 0 on, not {text!r}")
    return int(text)


@contextmanager
def refusals(stderr: OutputWrapper) -> Iterator[None]:
    """Write each fault of the request on a line and exit with 2. Exit with 1 when a search or a tool fails."""
    try:
        yield
        return
    except StageError as error:
        stderr.write(f"{error.reason[:1].upper()}{error.reason[1:]}.")
        sys.exit(1)
    except BadQuestions as error:
        faults = error.faults
    except InvalidRequest as error:
        faults = [fault.sentence for fault in error.faults]
    except SearchError as error:
        stderr.write(str(error))
        sys.exit(1)
    for fault in faults:
        stderr.write(fault)
    sys.exit(2)
