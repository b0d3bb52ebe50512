"""All AQMs side by side."""
