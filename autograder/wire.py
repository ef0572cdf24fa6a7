"""Plain data on a wire: values and tensors to bytes and back, with a decoder that runs no code.

`encode` takes whatever a student's code returned; what is not plain data becomes a
marker that names its type. `decode` trusts nothing: it rebuilds numbers, strings, lists,
tuples, dicts and tensors from checked parts, and raises WireError for anything else.

Layout: a 4-byte length, a JSON tree, then the tensors' bytes one after the other.
"""

from __future__ import annotations

import json
import math
import struct
from dataclasses import dataclass
from typing import Any

import torch

from .text import writable

MAX_BYTES = 64 * 1024 * 1024
MAX_DEPTH = 40
MAX_ITEMS = 1_000_000
DTYPES = {
    str(dtype).removeprefix("torch."): dtype
    for dtype in (
        torch.float64, torch.float32, torch.float16, torch.bfloat16,
        torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8,
        torch.bool, torch.complex64, torch.complex128,
    )
}  # fmt: skip


class WireError(ValueError):
    """Bytes that are not a message, or a message over a limit."""


class TooLarge(WireError):
    """A message over the limit of bytes, items or depth."""


@dataclass(frozen=True)
class Foreign:
    """Stands for a value that is not plain data; only the name of its type arrived."""

    type_name: str

    def __repr__(self) -> str:
        return f"<{self.type_name}: not plain data>"


def encode(value: Any, limit: int = MAX_BYTES) -> bytes:
    """Bytes of a value. Errors: TooLarge over `limit` bytes, MAX_ITEMS or MAX_DEPTH."""
    blobs: list[bytes] = []
    budget = _Budget(limit)
    tree = json.dumps(_tree(value, blobs, budget, 0), separators=(",", ":")).encode()
    message = struct.pack(">I", len(tree)) + tree + b"".join(blobs)
    if len(message) > limit:
        raise TooLarge(f"{len(message):,} bytes came back; {limit:,} are allowed")
    return message


class _Budget:
    """Counts what an encoding holds, so that a huge value stops early."""

    def __init__(self, limit: int) -> None:
        self.bytes, self.items = limit, MAX_ITEMS

    def spend(self, size: int) -> None:
        self.bytes -= size
        self.items -= 1
        if self.bytes < 0 or self.items < 0:
            raise TooLarge("more data came back than the limit allows")


def _tree(value: Any, blobs: list[bytes], budget: _Budget, depth: int) -> Any:
    if depth > MAX_DEPTH:
        raise TooLarge(f"data nested deeper than {MAX_DEPTH} levels came back")
    kind = type(value)  # exact types: a subclass may lie about itself
    if value is None or kind is bool:
        budget.spend(4)
        return value
    if kind is int:
        if value.bit_length() > 4096:
            raise TooLarge("an integer of more than 4096 bits came back")
        budget.spend(8 + value.bit_length() // 3)
        return value
    if kind is float:
        budget.spend(8)
        return value if math.isfinite(value) else ["f", repr(value)]
    if kind is str:
        budget.spend(len(value))
        return ["s", value]
    if kind in (list, tuple):
        budget.spend(2)
        return ["l" if kind is list else "t", [_tree(v, blobs, budget, depth + 1) for v in value]]
    if kind is dict:
        budget.spend(2)
        pairs = [
            [_tree(k, blobs, budget, depth + 1), _tree(v, blobs, budget, depth + 1)]
            for k, v in value.items()
        ]
        return ["d", pairs]
    if kind in (torch.Tensor, torch.nn.Parameter):
        return _tensor(value, blobs, budget)
    if kind.__module__ == "numpy":
        return _numpy(value, blobs, budget, depth)
    budget.spend(len(kind.__name__))
    return ["?", str(kind.__name__)[:80]]


def _tensor(value: torch.Tensor, blobs: list[bytes], budget: _Budget) -> Any:
    name = str(value.dtype).removeprefix("torch.")
    if name not in DTYPES or value.layout != torch.strided or value.device.type != "cpu":
        return ["?", f"Tensor ({name}, {value.layout}, {value.device})"]
    budget.spend(value.numel() * value.element_size())
    flat = value.detach().resolve_conj().resolve_neg().contiguous().reshape(-1)
    blob = flat.view(torch.uint8).numpy().tobytes() if flat.numel() else b""
    blobs.append(blob)
    return ["x", name, list(value.shape), len(blob)]


def _numpy(value: Any, blobs: list[bytes], budget: _Budget, depth: int) -> Any:
    import numpy

    kind = type(value)
    if issubclass(kind, numpy.generic):
        inner = value.item()
        if type(inner) in (bool, int, float):
            return ["n", kind.__name__, _tree(inner, blobs, budget, depth + 1)]
    if kind is numpy.ndarray:
        return ["?", f"numpy array of {value.dtype}"]
    return ["?", f"numpy {kind.__name__}"]


@dataclass(frozen=True)
class NumpyScalar:
    """A numpy scalar as it arrived: its type's name and its value as a Python number."""

    type_name: str
    value: bool | int | float


def decode(message: bytes, limit: int = MAX_BYTES) -> Any:
    """The value of a message. Errors: WireError for anything that `encode` could not have made."""
    if not isinstance(message, (bytes, bytearray, memoryview)) or len(message) < 4:
        raise WireError("a message is at least four bytes long")
    if len(message) > limit:
        raise TooLarge(f"{len(message):,} bytes came back; {limit:,} are allowed")
    size = struct.unpack(">I", message[:4])[0]
    body = bytes(message[4 : 4 + size])
    if len(body) != size:
        raise WireError("the message is shorter than it says")
    try:
        tree = json.loads(body, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise WireError(f"not a data tree: {type(error).__name__}") from None
    reader = _Reader(memoryview(message)[4 + size :])
    value = reader.value(tree, 0)
    if reader.position != len(reader.blobs):
        raise WireError("bytes are left over")
    return value


def _no_constant(text: str) -> None:
    raise ValueError(text)


class _Reader:
    """Walks a parsed tree; `blobs` are the tensors' bytes in the order of the tree."""

    def __init__(self, blobs: memoryview) -> None:
        self.blobs, self.position, self.items = blobs, 0, 0

    def value(self, node: Any, depth: int) -> Any:
        self.items += 1
        if depth > MAX_DEPTH or self.items > MAX_ITEMS:
            raise TooLarge("data too deep or too many items")
        if node is None or type(node) in (bool, int, float):
            return node
        if type(node) is not list or len(node) < 2 or type(node[0]) is not str:
            raise WireError("unknown node")
        tag, rest = node[0], node[1:]
        read = getattr(self, f"_read_{_TAGS[tag]}", None) if tag in _TAGS else None
        if read is None or len(rest) != (3 if tag == "x" else 2 if tag == "n" else 1):
            raise WireError(f"unknown tag {tag!r}")
        return read(*rest, depth=depth)

    def _read_float(self, text: Any, depth: int) -> float:
        if text not in ("nan", "inf", "-inf"):
            raise WireError("not a special float")
        return float(text)

    def _read_string(self, text: Any, depth: int) -> str:
        if type(text) is not str:
            raise WireError("not a string")
        return writable(text)

    def _read_list(self, nodes: Any, depth: int) -> list:
        if type(nodes) is not list:
            raise WireError("not a list")
        return [self.value(node, depth + 1) for node in nodes]

    def _read_tuple(self, nodes: Any, depth: int) -> tuple:
        return tuple(self._read_list(nodes, depth))

    def _read_dict(self, pairs: Any, depth: int) -> dict:
        if type(pairs) is not list:
            raise WireError("not a dict")
        result = {}
        for pair in pairs:
            if type(pair) is not list or len(pair) != 2:
                raise WireError("not a pair")
            key = self.value(pair[0], depth + 1)
            item = self.value(pair[1], depth + 1)
            try:
                result[key] = item
            except TypeError:
                raise WireError("a key that can't be one") from None
        return result

    def _read_foreign(self, name: Any, depth: int) -> Foreign:
        return Foreign(self._read_string(name, depth)[:80])

    def _read_numpy(self, name: Any, node: Any, depth: int) -> NumpyScalar:
        inner = self.value(node, depth + 1)
        if type(name) is not str or type(inner) not in (bool, int, float):
            raise WireError("not a numpy scalar")
        return NumpyScalar(writable(name[:80]), inner)

    def _read_tensor(self, name: Any, shape: Any, size: Any, depth: int) -> torch.Tensor:
        if type(name) is not str or name not in DTYPES:
            raise WireError("unknown dtype")
        if type(shape) is not list or len(shape) > 16:
            raise WireError("not a shape")
        if not all(type(n) is int and 0 <= n < 2**40 for n in shape) or type(size) is not int:
            raise WireError("not a shape")
        dtype = DTYPES[name]
        if math.prod(shape) * dtype.itemsize != size or size > len(self.blobs) - self.position:
            raise WireError("shape and bytes do not agree")
        # the product of the other sizes must be bounded too, or strides overflow on an empty tensor
        if math.prod(n for n in shape if n) > 2**40:
            raise WireError("not a shape")
        blob = bytearray(self.blobs[self.position : self.position + size])
        self.position += size
        if not size:
            return torch.empty(shape, dtype=dtype)
        flat = torch.frombuffer(blob, dtype=torch.uint8)
        if dtype is torch.bool:
            return (flat != 0).reshape(shape)
        return flat.view(dtype).reshape(shape)


_TAGS = {
    "f": "float", "s": "string", "l": "list", "t": "tuple", "d": "dict",
    "?": "foreign", "n": "numpy", "x": "tensor",
}  # fmt: skip
