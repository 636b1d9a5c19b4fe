"""A compiled function and its gradient inside JAX and PyTorch, as docs/gradients.md shows; where they are installed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import rho

TEXT = "{+/(1○⍵)*2}"
X = np.array([0.5, -1.0, 2.0])
SLOPES = np.sin(2 * X)


def test_jax() -> None:
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", True)
    value_and_slope = rho.value_and_grad(TEXT)

    @jax.custom_vjp  # type: ignore[untyped-decorator, unused-ignore]
    def energy(x: Any) -> Any:
        return forward(x)[0]

    def forward(x: Any) -> Any:
        shapes = jax.ShapeDtypeStruct((), x.dtype), jax.ShapeDtypeStruct(x.shape, x.dtype)
        return jax.pure_callback(lambda a: value_and_slope(np.asarray(a)), shapes, x)

    def backward(slope: Any, cotangent: Any) -> Any:
        return (cotangent * slope,)

    energy.defvjp(forward, backward)
    for gradient in (jax.grad(energy), jax.jit(jax.grad(lambda x: 3 * energy(x) / 3))):
        assert np.allclose(gradient(X), SLOPES, rtol=1e-12)


def test_torch() -> None:
    torch = pytest.importorskip("torch")
    value_and_slope = rho.value_and_grad(TEXT)

    class Energy(torch.autograd.Function):  # type: ignore[misc, unused-ignore]
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            value, slope = value_and_slope(x.detach().numpy())
            ctx.save_for_backward(torch.from_numpy(slope))
            return torch.tensor(float(value), dtype=x.dtype)

        @staticmethod
        def backward(ctx: Any, cotangent: Any) -> Any:
            return cotangent * ctx.saved_tensors[0]

    x = torch.tensor(X, requires_grad=True)
    (3 * Energy.apply(x)).backward()
    assert np.allclose(x.grad, 3 * SLOPES, rtol=1e-12)
    assert torch.autograd.gradcheck(Energy.apply, (torch.tensor(X, requires_grad=True),))
