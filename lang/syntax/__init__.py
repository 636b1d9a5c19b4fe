"""Text to tokens: sources and spans, glyphs, lexemes, statements, grammars; the parser that binds them; the formatter."""
