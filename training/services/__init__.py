"""Verbs of learning and measuring."""
