"""Callers and their limits: visitors, tokens, roles, signing in, searches per minute."""
