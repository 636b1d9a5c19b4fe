"""Which name means what, in any text."""
