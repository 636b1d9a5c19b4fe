"""The bound syntax tree: expressions, functions, types, statements and whole programs."""
