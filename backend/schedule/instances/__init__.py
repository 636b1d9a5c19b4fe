"""Abstract scheduling problems as files: `instance/1` JSON, DOT and STG task graphs, and the solutions of such problems."""
