"""Rho inside Python programs: `rho.compile`, `rho.load`, `rho.check`.  `rho` itself imports these names when they are used."""
