"""Runs of other simulators and of Linux, repeated here and compared with what they left.

A reference, such as `pias`, is a function that reads a folder, runs what is in it, and gives back
a `Validation`. Files that begin with its name are its own. The others are shared:

    known         the references by their names
    files         how files and lists of flows are read, and what is told of wrong ones
    numbers       compared numbers: percentiles, flows one by one, which are near enough
    validation    runs with other draws and with one change at a time, and the outcome
    replayed      what ABM's and Credence's programs are compared by
    tables        tables for people
    published     what the repository keeps of validations
    blocks        the tables of their page
"""
