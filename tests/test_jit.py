"""The three kinds of compiled functions: what a block must not do is refused when it is compiled."""

import numba
import numpy as np
import pytest

from fastcube.kernels.jit import block, kernel, scratch

pytestmark = pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="nothing is compiled")


@scratch
def made(n):
    return np.ones(n), np.int64(n)


@block
def second_of(values):
    return values, values[1]


@block
def allocating(n):
    return np.zeros(n).sum()


@block
def making(n):
    values, _ = made(n)
    return values.sum()


@block(always=True)
def summed(values):
    return values[1:].sum()


def test_a_block_works_on_arrays_that_a_scratch_made():
    @kernel("float64(int64)", cache=False)
    def total(n):
        values, _ = made(n)
        return summed(values)

    assert total(5) == 4.0


def test_a_block_called_from_python_is_its_plain_function():
    @block
    def doubled(x):
        return 2 * x

    @kernel("int64(int64)", cache=False)
    def quadrupled(x):
        return doubled(doubled(x))

    assert [doubled(4), quadrupled(4), doubled(4), doubled("ab")] == [8, 16, 8, "abab"]


@pytest.mark.parametrize(
    ("wrong", "problem"),
    [
        (lambda n: second_of(np.zeros(n))[1], "second_of returns an array"),
        (lambda n: -allocating(n), "empty|zeros"),
        (lambda n: -making(n), "whose arrays it would never free"),
    ],
)
def test_a_block_that_allocates_or_lets_arrays_go_is_refused(wrong, problem):
    made(3)  # compiled with its own settings, whatever is compiled first
    refused = kernel("float64(int64)", cache=False)(wrong)
    with pytest.raises(numba.core.errors.TypingError, match=problem):
        refused(3)
