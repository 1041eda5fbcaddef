"""Enumeration of all plans that start from the names of a question and find nodes in the graph."""
