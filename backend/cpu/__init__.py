"""The CPU back end: kernels compiled from loop programs where they pay, NumPy elsewhere, with the same bits."""
