"""How good a pipeline is: measures, runner, report. Knows nothing of Django."""
