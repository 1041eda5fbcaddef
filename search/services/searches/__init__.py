"""Searches: request, run, follow, describe, keep."""
