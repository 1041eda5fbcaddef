"""The site's URL patterns, and the handlers of error responses."""

from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from django.urls import include, path

from grasp_site.documentation.views import documentation
from grasp_site.metrics.serve import metrics
from search.views.account import sign_in, sign_out

handler400 = "grasp_site.errors.bad_request"
handler403 = "grasp_site.errors.permission_denied"
handler404 = "grasp_site.errors.page_not_found"
handler500 = "grasp_site.errors.server_error"


def search_or_index(request: HttpRequest) -> HttpResponse:
    """Return the results of the admin's search box, or the admin's page of the app `search`.

    Unfold answers its box at the address that Django gives to the page of the app with this label.
    """
    if "s" in request.GET or "extended" in request.GET:
        return admin.site.search(request)  # type: ignore[attr-defined]
    return admin.site.app_index(request, "search")


urlpatterns = [
    # The site has one sign-in page for everybody: the admin's own page would need the same protection again.
    path("admin/login/", sign_in),
    path("admin/logout/", sign_out),
    path("admin/search/", admin.site.admin_view(search_or_index), name="search-app"),
    path("admin/", admin.site.urls),
    path("metrics", metrics, name="metrics"),
    # Before the API of search, which answers every other address below it with a problem.
    path("api/v1/", include("training.api.urls")),
    path("docs/", documentation, name="documentation"),
    path("docs/<path:path>", documentation, name="documentation-file"),
    path("", include("training.urls")),
    path("", include("search.urls")),
]
