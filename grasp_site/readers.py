"""Numbers, dates and words of a page are those of the reader's language, which the browser says."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse
from django.utils.cache import patch_vary_headers
from django.utils.translation.trans_real import parse_accept_lang_header

from search.language.reader import read_in


def written_for(get_response: Callable[[HttpRequest], HttpResponse]) -> Callable[[HttpRequest], HttpResponse]:
    """Middleware: takes the reader's language from the request; each request sets it, so none has another one's."""

    def answer(request: HttpRequest) -> HttpResponse:
        read_in(code for code, _ in parse_accept_lang_header(request.headers.get("Accept-Language", "")))
        response = get_response(request)
        patch_vary_headers(response, ["Accept-Language"])
        return response

    return answer
