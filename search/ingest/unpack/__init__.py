"""Unpacks uploaded files without trusting them: sizes, numbers, paths and contents are checked while they are read."""
