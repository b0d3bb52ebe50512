"""All five systems in one network."""
