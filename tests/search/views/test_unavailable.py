"""Pages when a part they need does not answer."""

import pytest
from django.db import OperationalError
from django.http import HttpRequest, HttpResponse
from django.test import Client, RequestFactory
from django.views.decorators.debug import sensitive_post_parameters

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
    assert '<a class="button" href="">Try again</a>' in page.content.decode()


def test_a_password_is_not_repeated(rf: RequestFactory) -> None:
    @says_what_is_down
    @sensitive_post_parameters()
    def view(_: HttpRequest) -> HttpResponse:
        raise OperationalError("server closed the connection unexpectedly")

    page = view(rf.post("/", {"password": "of-nobody-else"}))

    assert page.status_code == 503
    assert "of-nobody-else" not in page.content.decode()


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("services")
def test_a_broker_that_takes_no_search_is_named_and_the_run_kept(
    client: Client, films: KnowledgeBase, broker_away: None
) -> None:
    page = client.post("/", {"kb": "films", "q": "Who made “Amber Road”?"})

    assert page.status_code == 503
    assert "Valkey does not answer" in page.content.decode()
    # The question is not lost: its button asks again.
    again = page.content.decode().partition('<form method="post">')[2].partition("</form>")[0]
    assert '<input type="hidden" name="kb" value="films">' in again
    assert '<input type="hidden" name="q" value="Who made “Amber Road”?">' in again
    assert again.count("csrfmiddlewaretoken") == 1
    assert "<button>Try again</button>" in again
    assert SearchRun.objects.get().status == SearchRun.Status.FAILED
