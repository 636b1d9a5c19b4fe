"""Rho: a rank-polymorphic array language checked before it runs."""

__version__ = "0.1.0"
