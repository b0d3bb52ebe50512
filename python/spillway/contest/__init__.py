"""The arena: schemes against each other over scenarios, seeds, and everything else of a network.

factors      what is varied: sharing, AQM, queues and tags, transport, recovery, protection
design       which combinations of levels are run: a fraction that covers all pairs
grounds      the scenarios: shortened, and which combinations they refuse
plan         the runs of a design, as one experiment for each scenario
results      all runs as one table
ranks        who beats whom, ranks, regret
effects      how much each factor matters
hardware     the state that a policy keeps, and who is on the front
slotted      distance to the exact optimum in the slotted model
tuned        the best values of a level, searched with the same budget
arena        all of this together
"""
