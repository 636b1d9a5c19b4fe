"""What the graph says of a phase on its devices: boxes, scratch, regions.  Makers and judges of plans both take it from here."""
