"""One script a question of speed or quality; each prints a table and asserts nothing."""
