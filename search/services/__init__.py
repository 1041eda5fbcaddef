"""Verbs: the only place besides ingest that writes rows. Every door calls these."""
