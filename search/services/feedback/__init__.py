"""What people say about the results of searches."""
