"""Loop programs as CUDA C++: `printer` writes the functions, `text` is what whoever launches them gets."""

from __future__ import annotations

from .printer import cuda_text
from .text import CudaText, Grid

__all__ = ["CudaText", "Grid", "cuda_text"]
