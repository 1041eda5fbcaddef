"""Maintenance of the site: deletion of old data, and measurement of what is stored."""
