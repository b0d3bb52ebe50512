"""The commands of the studies, which the command line finds as entry points."""
