"""program_facts."""
