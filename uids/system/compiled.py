"""Loops in machine code. Importing this imports numba, which takes a second."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic


def compiled(fastmath: Any = False) -> Callable[[Any], Any]:
    """Compiled on first use for each type, without the GIL, and kept on disk where that is
    possible."""

    def decorate(function: Any) -> Any:
        try:
            return njit(nogil=True, cache=True, fastmath=fastmath)(function)
        except RuntimeError:  # neither the package nor the user's cache folder can be written
            return njit(nogil=True, fastmath=fastmath)(function)

    return decorate


def _prefetch(context: Any, array: Any, index: Any) -> Any:
    def instruction(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        byte, number = ir.IntType(8).as_pointer(), ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [byte, number, number, number])
        ask = builder.module.declare_intrinsic("llvm.prefetch", [byte], kind)
        place = builder.bitcast(builder.gep(data, [arguments[1]]), byte)
        builder.call(ask, [place, number(0), number(2), number(1)])  # to read; L2; data
        return context.get_dummy_value()

    return types.void(array, index), instruction


# Within compiled loops, prefetch(array, index) asks for the cache line of array_index to be brought
# into L2. It need not lie within the array: nothing is read.
prefetch: Any = intrinsic(_prefetch)
