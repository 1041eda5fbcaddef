"""Reads the bodies of requests about question sets: questions in every form, and what is done about splits."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, TypeVar

from django.core.files.uploadedfile import UploadedFile
from django.utils.dateparse import parse_date, parse_datetime
from django.utils.timezone import get_current_timezone, is_naive, make_aware
from rest_framework.request import Request

from search.domain.errors import Fault, InvalidRequest, nearest, pointer
from search.models import KnowledgeBase
from training.data.examples import BadQuestions, Example
from training.data.splitting import parse_shares
from training.services.check_questions import REFUSE, Prepared, SplitOptions, prepare_questions
from training.services.question_sets import existing_base
from training.services.read_upload import FORMATS, ReadUpload, read_upload

T = TypeVar("T")


def read_body(request: Request, keys: tuple[str, ...]) -> Mapping[str, Any]:
    """Return the body; of a form, each field's last value. Raises InvalidRequest with every unknown key."""
    body = request.data
    if not isinstance(body, Mapping):
        raise InvalidRequest([Fault("", "The body is an object with knowledge_base and questions, at least.")])
    faults = [
        Fault(
            pointer(key), f"There is no {str(key)[:80]!r} here; there are: {', '.join(keys)}.", nearest(str(key), keys)
        )
        for key in body
        if key not in keys
    ]
    if faults:
        raise InvalidRequest(faults)
    return {key: body[key] for key in body}


def base_of(request: Request, body: Mapping[str, Any]) -> KnowledgeBase:
    """Return the knowledge base that a body names. Raises InvalidRequest if the caller may not see it."""
    name = body.get("knowledge_base")
    visible = KnowledgeBase.objects.visible_to(request.user)
    if not isinstance(name, str) or not visible.filter(name=name.replace("\x00", "")).exists():
        said = f"There is no knowledge base {str(name)[:80]!r}."
        raise InvalidRequest([
            Fault("/knowledge_base", said, nearest(str(name), visible.values_list("name", flat=True)))
        ])  # fmt: skip
    return existing_base(name)


def options_of(body: Mapping[str, Any]) -> SplitOptions:
    """Return what a body says about splits. Raises InvalidRequest with every fault."""
    texts = {key: body.get(key) for key in ("duplicates", "into", "split")}
    faults = [
        Fault(f"/{key}", f"{key} is a text.")
        for key, value in texts.items()
        if value is not None and not isinstance(value, str)
    ]  # fmt: skip
    seed = body.get("seed", 0)
    seed = int(seed) if isinstance(seed, str) and seed.isascii() and seed.isdigit() and len(seed) < 19 else seed
    if not isinstance(seed, int) or isinstance(seed, bool) or not 0 <= seed < 2**63:
        faults.append(Fault("/seed", "seed is a whole number from 0 on."))
    if faults:
        raise InvalidRequest(faults)
    shares = as_faults(lambda: parse_shares(texts["split"] or ""), "/split")
    return SplitOptions(texts["duplicates"] or REFUSE, texts["into"] or "", shares, seed)


def prepared_of(base: KnowledgeBase, examples: Sequence[Example], body: Mapping[str, Any]) -> Prepared:
    """Return the questions, split and checked as the body says. Raises InvalidRequest."""
    options = options_of(body)
    return as_faults(lambda: prepare_questions(base, examples, options))


def examples_in(body: Mapping[str, Any]) -> list[Example]:
    """Return the questions of a body in any of its forms. Raises InvalidRequest with every fault."""
    file, qrels, text, given = (body.get(key) for key in ("file", "qrels", "text", "questions"))
    if given is not None:
        if file or text:
            raise InvalidRequest([Fault("", "Give one of: questions, text, file.")])
        text = "\n".join(json.dumps(one) for one in given) if isinstance(given, list) and given else "{}"
    form = "jsonl" if given is not None else body.get("format") or ""
    if not isinstance(text or "", str) or not isinstance(form, str):
        raise InvalidRequest([Fault("/text", f"text is a text, and format one of: {', '.join(FORMATS)}.")])
    return as_faults(lambda: read_upload(file=_upload(file), qrels=_upload(qrels), pasted=text or "", form=form))


def _upload(file: Any) -> ReadUpload | None:
    return ReadUpload(file.name or "questions", file.chunks()) if isinstance(file, UploadedFile) else None


def as_faults(read: Callable[[], T], at: str = "") -> T:
    """Return what `read` gives; BadQuestions become faults of the request."""
    try:
        return read()
    except BadQuestions as error:
        raise InvalidRequest([Fault(at, fault) for fault in error.faults]) from error


def moment_of(given: object) -> datetime | None:
    """Return the time of `since`, None without one. Raises InvalidRequest."""
    if given in (None, ""):
        return None
    try:
        found = parse_datetime(given) if isinstance(given, str) else None
        day = parse_date(given) if isinstance(given, str) and found is None else None
    except ValueError:
        found = day = None
    if found is None and day is not None:
        found = parse_datetime(f"{day.isoformat()}T00:00:00")
    if found is None:
        raise InvalidRequest([Fault("/since", "since is a day or a time, such as 2026-01-31.")])
    return make_aware(found, get_current_timezone()) if is_naive(found) else found
