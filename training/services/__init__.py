"""The services of training and evaluation."""
