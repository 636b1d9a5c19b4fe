"""The CPU back end: kernels made from loop programs where they pay, NumPy elsewhere, with the same bits."""
