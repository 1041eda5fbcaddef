"""GRASP search: answers questions over semi-structured knowledge bases, and shows why."""

__version__ = "0.1.0"
