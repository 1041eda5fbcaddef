"""Pipelines, their versions, and the artifacts these name."""
