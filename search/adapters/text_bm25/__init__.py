"""BM25: all scores are computed when the index is built, and later read from memory-mapped files."""

from search.adapters.text_bm25.analyzer import Analyzer
from search.adapters.text_bm25.build import Document, build
from search.adapters.text_bm25.index import Bm25Index

__all__ = ["Analyzer", "Bm25Index", "Document", "build"]
