"""Imports of every kind of source: opening it, looking at it before, and importing it."""
