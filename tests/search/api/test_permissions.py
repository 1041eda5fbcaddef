"""Which calls the API lets through: every view has a table, and what is not in it is refused."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib.auth.models import AnonymousUser, Permission, User
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver
from rest_framework.request import Request
from rest_framework.test import APIRequestFactory, force_authenticate
from rest_framework.views import APIView

from search.api.health import Unguarded
from search.api.permissions import ANYBODY, HasRight

METHODS = ("get", "post", "put", "patch", "delete")


def views(resolver: URLResolver | None = None) -> Iterator[type[APIView]]:
    """Yield every view of the API, those of its description and of the site's health apart."""
    for pattern in (resolver or get_resolver()).url_patterns:
        if isinstance(pattern, URLResolver):
            yield from views(pattern)
        elif isinstance(pattern, URLPattern):
            view = getattr(pattern.callback, "cls", None)
            apart = view is None or issubclass(view, Unguarded) or view.__module__ == "search.api.description"
            if not apart and view.__module__.startswith(("search.api", "training.api")):
                yield view


def test_every_view_has_a_table_with_each_of_its_methods() -> None:
    found = list(views())
    assert len(found) > 40
    for view in found:
        assert view.permission_classes == [HasRight], view.__name__
        missing = [name for name in METHODS if hasattr(view, name) and name.upper() not in view.rights]
        assert not missing, f"{view.__name__} lets nobody call {missing}"


class Partly(APIView):
    """A view whose table lacks one of its methods."""

    rights = {"POST": "search.add_job"}

    def post(self, request: Request) -> Any:
        """Answer nothing."""
        raise AssertionError("nobody here may do this")

    def delete(self, request: Request) -> Any:
        """Answer nothing."""
        raise AssertionError("this is not in the table")


class Bare(APIView):
    """A view without a table."""

    def get(self, request: Request) -> Any:
        """Answer nothing."""
        raise AssertionError("this has no table")


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("view", "method", "status"),
    [
        (Partly, "POST", 403), (Partly, "DELETE", 403), (Partly, "OPTIONS", 403), (Partly, "PUT", 405),
        (Bare, "GET", 403), (Bare, "HEAD", 403), (Bare, "OPTIONS", 403), (Bare, "POST", 405),
    ],
)  # fmt: skip
def test_what_has_no_row_is_refused_to_everybody(view: type[APIView], method: str, status: int) -> None:
    root = User.objects.create_superuser("root") if method not in ("POST", "OPTIONS") else User.objects.create_user("a")
    request = APIRequestFactory().generic(method, "/")
    force_authenticate(request, root)
    assert view.as_view()(request).status_code == status


@pytest.mark.django_db
@pytest.mark.parametrize("path", ["jobs/", "uploads/", "question-sets/", "evaluations/", "annotation/queues/"])
def test_options_says_nothing_to_whoever_may_do_nothing_there(path: str) -> None:
    address = f"/api/v1/{path}"
    assert Client().options(address).status_code == 401
    client = Client()
    client.force_login(User.objects.create_user("bare", is_staff=True))
    assert client.options(address).status_code == 403
    user = User.objects.create_user("able", is_staff=True)
    user.user_permissions.set(Permission.objects.all())
    client.force_login(user)
    assert client.options(address).status_code == 200


def test_what_is_for_everybody_is_so_without_an_account() -> None:
    request = APIRequestFactory().options("/")
    request.user = AnonymousUser()
    view = type("View", (APIView,), {"rights": {"GET": ANYBODY}})()
    assert HasRight().has_permission(request, view)  # type: ignore[arg-type]
