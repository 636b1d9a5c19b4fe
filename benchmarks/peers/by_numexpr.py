"""The workloads for numexpr, as expressions."""

from __future__ import annotations

import math

import numexpr

from rho.benchmarks.peers.sides import Call, Sides


def sides(threads: int) -> Sides:
    numexpr.set_num_threads(threads)

    def expression(text: str) -> Call:
        return lambda a: numexpr.evaluate(text, local_dict=a, global_dict={})

    return {
        "W1 2×x+y": expression("2*(x+y)"),
        "W2 polynomial": expression("((x*3+2)*x+1)*x"),
        "W4 dot": expression("sum(x*y)"),
        "W5 distance": lambda a: math.sqrt(numexpr.evaluate("sum((x-y)*(x-y))", local_dict=a, global_dict={})),
    }
