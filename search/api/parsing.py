"""Parser of JSON request bodies; its errors name the position of the first fault."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NoReturn

from rest_framework import status
from rest_framework.exceptions import APIException, ParseError
from rest_framework.parsers import BaseParser, MultiPartParser

from search.domain.errors import Fault, InvalidRequest
from search.domain.unstorable import may_be_unstorable, unstorable

LARGEST = 1 << 20
"""Largest accepted body, in bytes. A plan that uses everything has about ten thousand bytes."""


class TooLarge(APIException):
    """The body has more than `LARGEST` bytes; answered with 413."""

    status_code = status.HTTP_413_REQUEST_ENTITY_TOO_LARGE
    default_detail = f"The body has more than {LARGEST:,} bytes."
    default_code = "too_large"


class JSONBodyParser(BaseParser):
    """Parser of JSON in UTF-8, up to one mebibyte; NaN and Infinity are rejected."""

    media_type = "application/json"

    def parse(self, stream: Any, media_type: str | None = None, parser_context: Mapping[str, Any] | None = None) -> Any:
        """Return the body as Python objects.

        Raises ParseError with a fault when the body is not JSON, InvalidRequest with a fault for each text that cannot
        be stored, and TooLarge when the body has more than `LARGEST` bytes.
        """
        body = stream.read(LARGEST + 1)
        if len(body) > LARGEST:
            raise TooLarge()
        try:
            parsed = json.loads(body.decode("utf-8"), parse_constant=_no_constant)
        except UnicodeDecodeError as error:
            raise _malformed(f"The body is not UTF-8 at byte {error.start}.") from error
        except json.JSONDecodeError as error:
            message = f"The body is not JSON at line {error.lineno}, column {error.colno}: {error.msg}."
            raise _malformed(message) from error
        except (ValueError, RecursionError) as error:
            raise _malformed("The body is not JSON: a number is too long, or it is nested too deep.") from error
        refuse_unstorable(parsed, body)
        return parsed


class FormBodyParser(MultiPartParser):
    """Parser of forms with files, whose texts are checked as those of JSON are."""

    def parse(self, stream: Any, media_type: str | None = None, parser_context: Any = None) -> Any:
        """Return the fields and the files. Raises InvalidRequest with a fault for each text that cannot be stored."""
        parsed = super().parse(stream, media_type, parser_context)
        if faults := unstorable(dict(parsed.data.items())):
            raise InvalidRequest(faults)
        return parsed


def refuse_unstorable(parsed: Any, body: bytes) -> None:
    """Raise InvalidRequest if JSON has texts that cannot be stored; `body` is the JSON before it was read."""
    if may_be_unstorable(body) and (faults := unstorable(parsed)):
        raise InvalidRequest(faults)


def _malformed(message: str) -> ParseError:
    error = ParseError(message)
    error.fault = Fault("", message)  # type: ignore[attr-defined]
    return error


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a number of JSON.")
