"""Syntax of other languages (Python with NumPy, C, R, MATLAB, Julia) in Rho programs: recognised, explained, translated."""
