"""Name resolution and binding: from the tokens of statements to the bound syntax tree."""
