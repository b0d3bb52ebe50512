"""Lists of runs: variants of a scenario with several seeds, kept, gone on with, and compared.

variants     combinations of values of a scenario's keys
planning     what is to be run, checked
keys         what a run's results depend on
manifest     what a folder was asked for
work         runs what is missing (`spillway.tasks`)
experiment   all of this together
statistics   means, intervals, differences in pairs
pairs        variants beside a baseline
frame        all runs as one table
"""
