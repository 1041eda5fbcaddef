"""Pages about what was measured: evaluations, comparisons, and the questions that were lost."""
