"""Annotation: make queues, hand out their items, keep the judgements."""
