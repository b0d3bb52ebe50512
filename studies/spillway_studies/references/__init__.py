"""Runs of other simulators and of Linux, repeated here and compared with what they left.

A reference, such as `pias`, is a function that reads a folder, runs what is in it, and gives back
a `Validation`. Files with its name before an underscore are its own. The others are shared:

    known         the references by their names
    files         how files are read, and what is told of wrong ones
    kinds         kinds of arrays
    flow_lists    lists of flows, and our flows in their order
    scenarios     runs with other draws, and with one change at a time
    percentiles   percentiles and their intervals
    agreement     flows one by one
    bounds        which numbers are near enough
    classes       flows in classes by size, and incast
    replayed      what ABM's and Credence's programs are compared by
    tables        tables for people
    validation    the outcome
"""
