"""CUDA text on the host: compiled by g++ with a shim that runs the threads of a block as fibres.

A fibre runs until a barrier, then the next one; so what is between barriers runs in the order of the threads.  This shows what
the text means, not how it behaves under concurrency.
"""

from __future__ import annotations

import ctypes
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

COMPILER = (shutil.which("g++") or shutil.which("clang++")) if sys.platform == "linux" else None
FLAGS = ("-std=c++17", "-O1", "-ffp-contract=off", "-fno-strict-aliasing", "-shared", "-fPIC", "-w")

_SHIM = """
extern "C" {
double sqrt(double); float sqrtf(float); double fabs(double); float fabsf(float); double floor(double); float floorf(float);
double ceil(double); float ceilf(float); double sin(double); double cos(double); double tan(double);
double fmod(double, double); float fmodf(float, float); double copysign(double, double); float copysignf(float, float);
double fma(double, double, double); float fmaf(float, float, float);
struct rho_dimension { unsigned x; };
extern rho_dimension threadIdx, blockIdx, blockDim, gridDim;
void rho_barrier();
}
#define __global__
#define __device__
#define __shared__ static
#define __launch_bounds__(n)
static inline void __syncthreads() { rho_barrier(); }
static inline long long __double_as_longlong(double x) { long long y; __builtin_memcpy(&y, &x, 8); return y; }
static inline double __longlong_as_double(long long x) { double y; __builtin_memcpy(&y, &x, 8); return y; }
static inline int __float_as_int(float x) { int y; __builtin_memcpy(&y, &x, 4); return y; }
static inline float __int_as_float(unsigned x) { float y; __builtin_memcpy(&y, &x, 4); return y; }
static inline int __clz(int x) { return x ? __builtin_clz(x) : 32; }
static inline unsigned __brev(unsigned x) {
  unsigned y = 0;
  for (int i = 0; i < 32; i++) y |= (x >> i & 1u) << (31 - i);
  return y;
}
template <typename T> static inline T atomicAdd(T *p, T x) { T old = *p; *p = (T)(old + x); return old; }
template <typename T> static inline T atomicMin(T *p, T x) { T old = *p; if (x < old) *p = x; return old; }
template <typename T> static inline T atomicMax(T *p, T x) { T old = *p; if (x > old) *p = x; return old; }
"""

_GRID = """
#include <ucontext.h>
#include <stdlib.h>
extern "C" {
struct rho_dimension { unsigned x; };
rho_dimension threadIdx, blockIdx, blockDim, gridDim;
static const int STACK = 1 << 16, MOST = 1024;
static ucontext_t scheduler, fibres[MOST];
static char *stacks;
static int current, done[MOST];
static void (*body)(const unsigned long long *);
static const unsigned long long *words;
void rho_barrier() { swapcontext(&fibres[current], &scheduler); threadIdx.x = current; }
static void enter() { body(words); done[current] = 1; swapcontext(&fibres[current], &scheduler); }
void rho_launch(unsigned grid, unsigned block, int barriers, void (*f)(const unsigned long long *), const unsigned long long *w) {
  body = f; words = w; blockDim.x = block; gridDim.x = grid;
  if (!stacks) stacks = (char *)malloc((size_t)STACK * MOST);
  for (unsigned b = 0; b < grid; b++) {
    blockIdx.x = b;
    if (!barriers) {
      for (unsigned t = 0; t < block; t++) { threadIdx.x = t; f(w); }
      continue;
    }
    for (unsigned t = 0; t < block; t++) {
      getcontext(&fibres[t]);
      fibres[t].uc_stack.ss_sp = stacks + (size_t)t * STACK;
      fibres[t].uc_stack.ss_size = STACK;
      fibres[t].uc_link = &scheduler;
      makecontext(&fibres[t], enter, 0);
      done[t] = 0;
    }
    for (int left = block; left;) {
      left = 0;
      for (unsigned t = 0; t < block; t++) if (!done[t]) {
        current = t; threadIdx.x = t;
        swapcontext(&scheduler, &fibres[t]);
        left += !done[t];
      }
    }
  }
}
}
"""


@cache
def _folder() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="rho-cuda-host-")


def _library(text: str, name: str, mode: int) -> ctypes.CDLL:
    assert COMPILER is not None
    folder = Path(_folder().name)
    source, made = folder / f"{name}.cpp", folder / f"{name}.so"
    source.write_text(text)
    found = subprocess.run([COMPILER, *FLAGS, "-o", str(made), str(source)], capture_output=True, text=True)
    if found.returncode:
        raise AssertionError(f"{found.stderr}\n{text}")
    return ctypes.CDLL(str(made), mode=mode)


@cache
def _grid() -> Any:
    return _library(_GRID, "grid", ctypes.RTLD_GLOBAL).rho_launch


_FUNCTION = re.compile(r'extern "C" __global__ void (?:__launch_bounds__\(\d+\) )?(\w+)\(([^)]*)\) \{(.*?)\n\}', re.S)


class HostModule:
    """The kernels of a text, launched like those of a `RawModule`: `launch(name, grid, block, args)`, each argument 64 bits."""

    def __init__(self, text: str) -> None:
        self.text, trampolines = text, []
        self.barriers: dict[str, bool] = {}
        for match in _FUNCTION.finditer(text):
            name, listed, body = match.groups()
            types = [re.sub(r"(__restrict__ )?\w+$", "", one.strip()) for one in listed.split(",")]
            args = ", ".join(f"({type})w[{i}]" for i, type in enumerate(types))
            trampolines.append(f'extern "C" void call_{name}(const unsigned long long *w) {{ {name}({args}); }}')
            self.barriers[name] = "__syncthreads" in body
        _grid()
        count = len(os.listdir(_folder().name))
        self.library = _library("\n".join((_SHIM, text, *trampolines)), f"kernel{count}", 0)

    def launch(self, name: str, grid: int, block: int, args: Sequence[int]) -> None:
        words = (ctypes.c_uint64 * max(1, len(args)))(*(int(a) & 0xFFFFFFFFFFFFFFFF for a in args))
        call = ctypes.cast(getattr(self.library, f"call_{name}"), ctypes.c_void_p)
        _grid()(ctypes.c_uint(grid), ctypes.c_uint(block), ctypes.c_int(self.barriers[name]), call, words)


@cache
def host_module(text: str) -> HostModule:
    return HostModule(text)
