"""The API's description in OpenAPI, and its viewer."""

from __future__ import annotations

from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerView
from rest_framework.request import Request


class Description(SpectacularAPIView):
    """The description in YAML or JSON.

    There is one version. The `version` parameter of the query is ignored, because its unchecked value would be copied
    into a response header.
    """

    http_method_names = ("get", "head")

    def _get_version_parameter(self, request: Request) -> None:
        return None


class Viewer(SpectacularSwaggerView):
    """The description as an HTML page. It allows only GET and HEAD, because its template renders only that page."""

    http_method_names = ("get", "head")
