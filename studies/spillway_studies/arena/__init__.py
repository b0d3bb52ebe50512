"""All algorithms against each other, in all bundled scenarios, for who has to choose."""
