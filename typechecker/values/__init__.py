"""What is known about values while checking: operands, facts, constants."""
