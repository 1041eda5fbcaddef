"""Plans, values and paths as words that people read, the same for pages, terminal and API."""
