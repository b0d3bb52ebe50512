"""Keyed calls: what is kept of them, who computes what is missing, and how.

A call's key says all that its result depends on. Nothing here knows what is computed.

    segment   records, one line each, that only grow
    store     results by their keys
    claims    who computes what, among processes that share a folder
    run       computes what a store lacks, on several threads
"""
