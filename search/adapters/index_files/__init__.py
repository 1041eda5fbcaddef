"""Index files on several machines: lists with hashes, checks of what is here, and copies from where they were built."""
