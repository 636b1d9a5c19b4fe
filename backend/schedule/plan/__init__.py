"""Plans as data (`model`), as canonical JSON (`stored`, by one codec that types drive), and as text."""
