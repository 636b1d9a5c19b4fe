"""The table of primitives: glyphs, operators, library functions, constants and reserved words, with their documentation."""
