"""The search for the best parameters of a scenario: `spillway.tune`."""
