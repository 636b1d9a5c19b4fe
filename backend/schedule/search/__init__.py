"""Searches for schedules: list scheduling, local search, the exact strategy, and the portfolio that combines them."""
