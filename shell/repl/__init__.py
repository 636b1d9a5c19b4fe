"""The interactive session: `loop` for plain streams, `terminal` for prompt_toolkit, `commands` for both.

Everything that decides something is without a terminal: `glyphs` (typing), `completing`, `colours`, `preview` (the bottom
line).  `terminal` alone imports prompt_toolkit, when someone types.
"""
