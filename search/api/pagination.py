"""Pages of lists: DRF's envelope, 20 entries unless `page_size` says otherwise."""

from __future__ import annotations

from rest_framework.pagination import PageNumberPagination


class Pages(PageNumberPagination):
    """`page` and `page_size`, at most 100 entries a page."""

    page_size = 20
    page_size_query_param = "page_size"
    max_page_size = 100
