"""All sharing policies, tuned."""
