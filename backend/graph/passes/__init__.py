"""The passes over the phase graph; `pipeline` lists them in order."""
