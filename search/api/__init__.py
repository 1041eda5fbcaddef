"""The HTTP API under /api/v1/: it translates requests into calls of services, and their answers into JSON."""
