"""What learns: fits that turn examples into weights."""
