"""The interactive session: `loop` for plain streams, `terminal` for terminals, `commands` and `status_line` for both.

Only `terminal` imports prompt_toolkit, and only when someone types at a terminal.
"""
