"""The films of the search tests serve here too."""

from tests.search.conftest import films, small_pipelines

__all__ = ["films", "small_pipelines"]
