"""Similarity edges: signals of nodes, their thresholds, and the nearest neighbours above them (SAGE, section 2.1)."""
