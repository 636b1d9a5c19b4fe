"""Reading of inputs and writing of outputs: one module for each format, and `reading` and `writing`, which choose it."""
