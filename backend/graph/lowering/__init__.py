"""Lowering of the typed core to the phase graph."""
