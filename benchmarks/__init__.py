"""Measurements of speed and quality, one script for each question; each prints a table and asserts nothing."""
