"""The learners: they fit weights to examples."""
