"""How numbers are shown: as text, tables, plots and pages. Nothing here knows of networks."""
