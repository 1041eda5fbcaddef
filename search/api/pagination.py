"""Pages of lists in DRF's envelope."""

from __future__ import annotations

from rest_framework.pagination import PageNumberPagination


class Pages(PageNumberPagination):
    """Pagination by `page` and `page_size`: 20 entries a page by default, at most 100."""

    page_size = 20
    page_size_query_param = "page_size"
    max_page_size = 100
