"""Sizes: integer expressions over size variables in a normal form, their bounds and their text."""
