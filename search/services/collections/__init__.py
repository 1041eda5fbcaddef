"""What people keep: recent and saved searches, and collections of results."""
