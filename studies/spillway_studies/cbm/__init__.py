"""CBM (CoNEXT-SW 2024)."""
