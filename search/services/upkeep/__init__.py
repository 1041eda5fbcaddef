"""What the site does for itself: counts what it refuses, deletes what is old, measures what it keeps."""
