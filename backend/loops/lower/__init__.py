"""From regions of the phase graph to loop programs."""
