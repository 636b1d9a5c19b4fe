"""Reverse-mode differentiation of core ops."""
