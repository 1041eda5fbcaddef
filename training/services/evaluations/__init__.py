"""The parts of an evaluation: asking its questions, storing outcomes, building and describing its report."""
