"""Diagnostics: the codes with their pages, diagnostics as data, and their rendering."""
