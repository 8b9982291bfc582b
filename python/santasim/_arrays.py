"""Arrays as the golden model takes them: checked, in the order of C, nothing rounded."""

from __future__ import annotations

from typing import Any, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

InputArray = ArrayLike
"""float32, float16, bfloat16 (of the package ml_dtypes) or int8, any strides."""

FLOATS = ("float32", "float16", "bfloat16")


def _refuse(name: str, what: str, found: str, allowed: str) -> ValueError:
    return ValueError(f"{name}: {what}: got {found}; allowed: {allowed}")


def checked(name: str, array: InputArray, axes: Sequence[str], dtypes: Sequence[str]) -> NDArray[Any]:
    """`array` in the order of C, of one of `dtypes`, with as many axes as are named, none empty."""
    result = np.asarray(array)
    if result.dtype.name not in dtypes or not result.dtype.isnative:
        raise _refuse(name, "dtype", result.dtype.name, ", ".join(dtypes))
    if result.ndim != len(axes):
        raise _refuse(name, "shape", str(list(result.shape)), f"[{', '.join(axes)}]")
    return np.ascontiguousarray(result)


def floats(name: str, array: InputArray, axes: Sequence[str]) -> NDArray[np.float32]:
    """The same as float32, which holds every value of the short types, all of them finite."""
    result = checked(name, array, axes, FLOATS).astype(np.float32)
    finite = np.isfinite(result)
    if not finite.all():
        place = [int(i) for i in np.argwhere(~finite)[0]]
        raise _refuse(name, f"element {place}", str(result[tuple(place)]), "a finite number")
    return result


def require_shape(name: str, array: NDArray[Any], shape: Sequence[int], why: str) -> None:
    """Refuses another shape than `shape`."""
    if list(array.shape) != list(shape):
        raise _refuse(name, "shape", str(list(array.shape)), f"{list(shape)}, {why}")
