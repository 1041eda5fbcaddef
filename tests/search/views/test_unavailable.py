"""Pages when a part they need does not answer."""

import pytest
from django.db import OperationalError
from django.http import HttpRequest, HttpResponse
from django.test import Client, RequestFactory

from search.models import KnowledgeBase, SearchRun
from search.views.unavailable import says_what_is_down


def test_a_database_that_does_not_answer_is_named(rf: RequestFactory) -> None:
    @says_what_is_down
    def view(_: HttpRequest) -> HttpResponse:
        raise OperationalError("server closed the connection unexpectedly")

    page = view(rf.get("/"))

    assert page.status_code == 503
    assert page["Retry-After"] == "5"
    assert "Postgres does not answer" in page.content.decode()


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("services")
def test_a_broker_that_takes_no_search_is_named_and_the_run_kept(
    client: Client, films: KnowledgeBase, broker_away: None
) -> None:
    page = client.post("/", {"kb": "films", "q": "Who made Amber Road?"})

    assert page.status_code == 503
    assert "Valkey does not answer" in page.content.decode()
    assert SearchRun.objects.get().status == SearchRun.Status.FAILED
