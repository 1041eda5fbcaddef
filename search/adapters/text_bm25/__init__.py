"""BM25: all scores are computed when the index is built, and later read from memory-mapped files."""

from search.adapters.text_bm25.analyzer import Analyzer
from search.adapters.text_bm25.build import build
from search.adapters.text_bm25.index import Bm25Index

__all__ = ["Analyzer", "Bm25Index", "build"]
