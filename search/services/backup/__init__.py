"""Backups of the whole site in one file: made while searches run, and restored into an empty place."""
