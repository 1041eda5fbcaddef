"""The API's description in OpenAPI, and its viewer."""

from __future__ import annotations

from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerView
from rest_framework.request import Request


class Description(SpectacularAPIView):
    """The description in YAML or JSON.

    There is one version of it: the query is not asked for another, which would go into a header as it came.
    """

    http_method_names = ("get", "head")

    def _get_version_parameter(self, request: Request) -> None:
        return None


class Viewer(SpectacularSwaggerView):
    """The description as a page for people. It answers nothing but that page: a template renders no other answer."""

    http_method_names = ("get", "head")
