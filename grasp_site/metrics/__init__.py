"""Metrics for Prometheus: what happens is counted in every process, and what is so is measured when somebody asks."""
