"""Questions with their answers, for training and for measuring."""
