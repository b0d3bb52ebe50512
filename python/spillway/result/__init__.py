"""Results of runs: summaries, tables, and the metrics by which runs are compared."""
