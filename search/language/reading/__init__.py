"""Dates and scales in a text."""
