"""Text for people: values, costs, plans, documentation, and the progress line."""
