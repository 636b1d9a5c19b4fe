"""The packages of the wheel: this folder is the package `rho`, and the rooms in it are its sub-packages."""

from setuptools import find_packages, setup

ROOMS = ("lang", "typechecker", "backend", "shell", "stdlib")

setup(packages=["rho", *(f"rho.{name}" for name in find_packages(include=[*ROOMS, *(f"{room}.*" for room in ROOMS)]))])
