"""What a session has: names with values already computed, functions as text, and what was entered so far.

`workspace` enters text and answers questions, `items` is what is kept of a statement, `program` writes the program that an
entry stands in and leads spans back to what was typed, `transcripts` saves.
"""
