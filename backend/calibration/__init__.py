"""Calibration: measures the cost tables of this machine into a profile."""
