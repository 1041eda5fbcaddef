"""Annotation: how queues are filled, how grades are compared, and what a grade of several people is."""
