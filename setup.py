"""Packages of the distribution: `rho`, which is this folder, and every package of its rooms."""

from setuptools import find_packages, setup

ROOMS = ("lang", "typechecker", "backend", "shell", "stdlib")

names = find_packages(include=[pattern for room in ROOMS for pattern in (room, f"{room}.*")])
setup(packages=["rho", *(f"rho.{name}" for name in names)])
