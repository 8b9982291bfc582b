"""The santasim trace file: a safetensors file with stated metadata (see docs/traces.md).

Needs numpy alone. The writer is deterministic (sorted header, no time stamps of its own) and
leaves either the whole file or none. The reader checks every size before it allocates.
"""

from __future__ import annotations

import json
import math
import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

Float32 = npt.NDArray[np.float32]

FORMAT_NAME = "santasim-trace"
FORMAT_VERSION = "1"
HEADER_LIMIT_BYTES = 16 * 1024 * 1024
ELEMENT_BYTES = {"F32": 4, "F16": 2, "BF16": 2, "I8": 1}
DEFAULT_AXES = {
    "query": "query_head,feature",
    "key": "kv_head,token,feature",
    "value": "kv_head,token,feature",
}


class TraceError(Exception):
    """A trace that cannot be written or read; the text is one line for the user."""


@dataclass(frozen=True)
class StoredTensor:
    """A tensor as it lies in the file: dtype name of safetensors, shape, little-endian bytes."""

    dtype: str
    shape: tuple[int, ...]
    data: bytes


@dataclass(frozen=True)
class Layer:
    """One layer's tensors as float32, in the default axis order.

    query [query_heads, feature], key and value [kv_heads, token, feature], and output
    [query_heads, feature] where the file has it.
    """

    index: int
    query: Float32
    key: Float32
    value: Float32
    output: Float32 | None


@dataclass(frozen=True)
class Trace:
    """A trace file's metadata and layers, in rising order of the layer index."""

    path: Path
    metadata: dict[str, str]
    layers: list[Layer]


def encode(values: Float32, dtype: str, what: str) -> StoredTensor:
    """Rounds a float32 array to `dtype` (nearest, ties to even); refuses what it cannot hold."""
    if not np.isfinite(values).all():
        raise TraceError(f"{what}: the model produced NaN or infinity; every value must be finite")
    values = np.ascontiguousarray(values, dtype=np.float32)
    with np.errstate(over="ignore"):
        if dtype == "F32":
            stored: npt.NDArray[np.generic] = values.astype("<f4")
            overflow = False
        elif dtype == "F16":
            stored = values.astype("<f2")
            overflow = not np.isfinite(stored).all()
        elif dtype == "BF16":
            stored = _bf16_bits(values)
            overflow = bool(((stored & 0x7F80) == 0x7F80).any())
        else:
            raise TraceError(f"{what}: dtype {dtype} cannot be written; allowed: F32, F16, BF16")
    if overflow:
        largest = float(np.abs(values).max())
        raise TraceError(f"{what}: |value| up to {largest:g} does not fit {dtype}; use --dtype f32")
    return StoredTensor(dtype, values.shape, stored.tobytes())


def _bf16_bits(values: Float32) -> npt.NDArray[np.uint16]:
    """The bfloat16 bit patterns nearest to finite float32 values, ties to even."""
    bits = values.view(np.uint32)
    rounded = bits + np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1))
    return (rounded >> np.uint32(16)).astype("<u2")


def decode(tensor: StoredTensor) -> Float32:
    """The float32 values of a stored tensor; I8 gives the integers themselves."""
    if tensor.dtype == "BF16":
        bits = np.frombuffer(tensor.data, dtype="<u2").astype(np.uint32) << np.uint32(16)
        return bits.view(np.float32).reshape(tensor.shape)
    numpy_dtype = {"F32": "<f4", "F16": "<f2", "I8": "<i1"}[tensor.dtype]
    return np.frombuffer(tensor.data, dtype=numpy_dtype).astype(np.float32).reshape(tensor.shape)


def write_tensors(path: Path, tensors: dict[str, StoredTensor], metadata: dict[str, str]) -> int:
    """Writes a safetensors file through a temporary name; returns its size in bytes.

    On any failure (a full disk, an interrupt) the temporary file is removed and an existing file
    at `path` is left as it was.
    """
    header = _header(tensors, metadata)
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        with open(partial, "xb") as file:
            file.write(header)
            for name in sorted(tensors):
                file.write(tensors[name].data)
            file.flush()
            os.fsync(file.fileno())
            size = file.tell()
        os.replace(partial, path)
    except OSError as error:
        raise TraceError(f"{path}: cannot write: {error.strerror}; nothing was left") from error
    finally:
        partial.unlink(missing_ok=True)
    return size


def _header(tensors: dict[str, StoredTensor], metadata: dict[str, str]) -> bytes:
    """The length prefix and the JSON header, padded with spaces to a multiple of 8 bytes."""
    entries: dict[str, object] = {"__metadata__": dict(sorted(metadata.items()))}
    offset = 0
    for name in sorted(tensors):
        tensor = tensors[name]
        end = offset + len(tensor.data)
        entries[name] = {
            "dtype": tensor.dtype,
            "shape": list(tensor.shape),
            "data_offsets": [offset, end],
        }
        offset = end
    text = json.dumps(entries, separators=(",", ":"), ensure_ascii=False).encode()
    text += b" " * (-len(text) % 8)
    return len(text).to_bytes(8, "little") + text


def read_tensors(path: Path) -> tuple[dict[str, StoredTensor], dict[str, str]]:
    """All tensors and the metadata of a safetensors file, every size checked first."""
    try:
        size = path.stat().st_size
        with open(path, "rb") as file:
            length = int.from_bytes(file.read(8), "little")
            limit = min(size - 8, HEADER_LIMIT_BYTES)
            if length > limit:
                raise TraceError(f"{path}: header length {length}; allowed: 0..{limit} bytes")
            header = json.loads(file.read(length))
            data = file.read()
    except OSError as error:
        raise TraceError(f"{path}: cannot read: {error.strerror}") from error
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        raise TraceError(f"{path}: the header is not JSON: {error}") from error
    if not isinstance(header, dict):
        raise TraceError(f"{path}: the header is not a JSON object")
    metadata = header.pop("__metadata__", {})
    if not isinstance(metadata, dict) or not all(isinstance(v, str) for v in metadata.values()):
        raise TraceError(f"{path}: __metadata__ must map strings to strings")
    return {name: _entry(path, name, entry, data) for name, entry in header.items()}, metadata


def _entry(path: Path, name: str, entry: object, data: bytes) -> StoredTensor:
    """One header entry as a tensor; refuses unknown dtypes and offsets that do not fit."""
    where = f"{path}: tensor {name}"
    if not isinstance(entry, dict) or not {"dtype", "shape", "data_offsets"} <= entry.keys():
        raise TraceError(f"{where}: needs dtype, shape and data_offsets")
    dtype, shape, offsets = entry["dtype"], entry["shape"], entry["data_offsets"]
    if dtype not in ELEMENT_BYTES:
        raise TraceError(f"{where}: dtype {dtype}; allowed: {', '.join(ELEMENT_BYTES)}")
    if not _naturals(shape) or not _naturals(offsets) or len(offsets) != 2:
        raise TraceError(f"{where}: shape and data_offsets must be lists of integers from 0")
    begin, end = offsets
    expected = math.prod(shape) * ELEMENT_BYTES[dtype]
    if not begin <= end <= len(data) or end - begin != expected:
        raise TraceError(
            f"{where}: data_offsets {begin}..{end}; shape and dtype need {expected} bytes "
            f"within 0..{len(data)}"
        )
    return StoredTensor(dtype, tuple(shape), data[begin:end])


def _naturals(value: object) -> bool:
    """Whether `value` is a list of integers from 0 (JSON's true and false are not integers)."""
    return isinstance(value, list) and all(type(item) is int and item >= 0 for item in value)


def read_trace(path: Path) -> Trace:
    """A trace in the default axis order; refuses another format and mismatched shapes."""
    tensors, metadata = read_tensors(path)
    stated = (metadata.get("format"), metadata.get("format_version"))
    if stated != (FORMAT_NAME, FORMAT_VERSION):
        raise TraceError(f"{path}: format {stated}; allowed: {(FORMAT_NAME, FORMAT_VERSION)}")
    names = metadata.get("layers", "").split(",")
    if not all(name.isdecimal() for name in names):
        raise TraceError(f"{path}: layers {metadata.get('layers')!r}; needs integers with commas")
    return Trace(path, metadata, [_layer(path, tensors, metadata, int(name)) for name in names])


def _layer(
    path: Path, tensors: dict[str, StoredTensor], metadata: dict[str, str], index: int
) -> Layer:
    """One layer, I8 dequantised, axes in the default order, shapes checked against each other."""
    query = _role(path, tensors, metadata, index, "query")
    key = _role(path, tensors, metadata, index, "key")
    value = _role(path, tensors, metadata, index, "value")
    if key.shape != value.shape or query.shape[1] != key.shape[2] or query.shape[0] % key.shape[0]:
        raise TraceError(
            f"{path}: layer {index}: query {query.shape}, key {key.shape} and value {value.shape} "
            "do not fit together"
        )
    stored_output = tensors.get(f"layers.{index}.output")
    output = None if stored_output is None else decode(stored_output)
    if output is not None and output.shape != query.shape:
        raise TraceError(f"{path}: layers.{index}.output {output.shape}; needs {query.shape}")
    return Layer(index, query, key, value, output)


def _role(
    path: Path, tensors: dict[str, StoredTensor], metadata: dict[str, str], index: int, role: str
) -> Float32:
    """The query, key or value of a layer as float32 in the default axis order."""
    name = f"layers.{index}.{role}"
    if name not in tensors:
        raise TraceError(f"{path}: tensor {name} is missing")
    wanted = DEFAULT_AXES[role].split(",")
    axes = metadata.get(f"axes.{role}", DEFAULT_AXES[role]).split(",")
    values = decode(tensors[name])
    if sorted(axes) != sorted(wanted) or values.ndim != len(wanted) or values.size == 0:
        raise TraceError(
            f"{path}: {name} has shape {values.shape} and axes {','.join(axes)}; "
            f"needs an order of {','.join(wanted)}, none of them empty"
        )
    values = np.ascontiguousarray(values.transpose([axes.index(axis) for axis in wanted]))
    if tensors[name].dtype != "I8":
        return values
    scale = tensors.get(f"{name}_scale")
    needed = (values.shape[0], values.shape[-1])
    if role == "query" or scale is None or scale.shape != needed:
        raise TraceError(f"{path}: {name} is I8; needs {name}_scale of shape {needed}")
    return values * decode(scale)[:, None, :]
