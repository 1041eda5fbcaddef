import pytest
from csp.middleware import CSPMiddleware
from django.http import HttpRequest, HttpResponse
from django.test import RequestFactory

from grasp_site.csp import policy_by_path


def policy_of(path: str) -> dict[str, list[str]]:
    """The directives that a page at `path` is sent with."""

    def page(request: HttpRequest) -> HttpResponse:
        return HttpResponse("page")

    response = CSPMiddleware(policy_by_path(page))(RequestFactory().get(path))
    directives = (part.split() for part in response["Content-Security-Policy"].split(";"))
    return {name: sources for name, *sources in directives}


def test_a_search_page_may_load_from_here_and_run_nothing_inline() -> None:
    policy = policy_of("/")
    assert policy["default-src"] == ["'self'"]
    assert policy["frame-ancestors"] == ["'none'"]
    assert "script-src" not in policy
    assert "style-src" not in policy


@pytest.mark.parametrize("path", ["/admin/search/", "/api/docs/"])
def test_the_pages_of_others_get_what_their_scripts_need_and_no_other_host(path: str) -> None:
    policy = policy_of(path)
    assert "'unsafe-inline'" in policy["script-src"]
    assert not any("//" in source or source == "*" for sources in policy.values() for source in sources)


def test_a_path_that_only_looks_like_the_admin_stays_strict() -> None:
    assert "script-src" not in policy_of("/administer/")


def test_pages_of_the_gallery_are_framed_by_this_site_alone_and_send_no_form() -> None:
    policy = policy_of("/gallery/search/one/")
    assert policy["frame-ancestors"] == ["'self'"]
    assert policy["form-action"] == ["'none'"]
    assert "script-src" not in policy
    assert "'unsafe-inline'" in policy_of("/gallery/admin-job/done/")["script-src"]


def test_the_page_around_the_frame_sends_its_choices_and_is_framed_by_nobody() -> None:
    policy = policy_of("/gallery/search/one/framed/")
    assert policy["form-action"] == ["'self'"]
    assert policy["frame-ancestors"] == ["'none'"]
