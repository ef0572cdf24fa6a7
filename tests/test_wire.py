"""The wire: what goes up arrives as it was, and no bytes make the decoder do anything else."""

import json
import math
import struct

import numpy
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder import wire

leaves = st.none() | st.booleans() | st.integers(-(2**200), 2**200) | st.floats(allow_nan=False) | st.text()
data = st.recursive(
    leaves,
    lambda inner: st.lists(inner) | st.dictionaries(leaves, inner) | st.tuples(inner, inner),
    max_leaves=30,
)


@settings(max_examples=300, deadline=None)
@given(data)
def test_plain_data_arrives_as_it_was(value):
    assert wire.decode(wire.encode(value)) == value


@pytest.mark.parametrize("dtype", wire.DTYPES.values(), ids=str)
def test_tensors_keep_dtype_shape_and_bits(dtype):
    value = torch.randn(3, 4, 2, generator=torch.Generator().manual_seed(0)).mul(9).to(dtype)
    for tensor in (value, value.transpose(0, 2), value[:, ::2], value[0, 0, 0], value[:0], value.expand(2, 3, 4, 2)):
        back = wire.decode(wire.encode(tensor))
        assert back.dtype == tensor.dtype and back.shape == tensor.shape
        assert torch.equal(back, tensor)


def test_special_floats_and_gradients():
    back = wire.decode(wire.encode([math.inf, -math.inf, math.nan, torch.ones(2, requires_grad=True)]))
    assert back[:2] == [math.inf, -math.inf] and math.isnan(back[2])
    assert not back[3].requires_grad


class Liar(float):
    def __eq__(self, other):
        return True

    __hash__ = float.__hash__


class Everything(dict):
    def items(self):
        return [("score", 1)]


class Sub(torch.Tensor):
    pass


@pytest.mark.parametrize(
    "value",
    [Liar(3), Everything(), torch.ones(2).as_subclass(Sub), object(), print, {1, 2}, b"x", torch.nn.Linear(1, 1)],
    ids=lambda v: type(v).__name__,
)
def test_what_is_not_plain_data_arrives_as_the_name_of_its_type(value):
    assert wire.decode(wire.encode(value)) == wire.Foreign(type(value).__name__)


def test_numpy_numbers_are_marked():
    assert wire.decode(wire.encode(numpy.float32(2))) == wire.NumpyScalar("float32", 2.0)
    assert isinstance(wire.decode(wire.encode(numpy.ones(3))), wire.Foreign)


def test_too_large():
    loop = []
    loop.append(loop)
    for value in (loop, [0] * 1_100_000, "x" * 2_000_000, torch.zeros(300_000), 1 << 5000):
        with pytest.raises(wire.TooLarge):
            wire.encode(value, limit=1_000_000)


@settings(max_examples=500, deadline=None)
@given(st.binary(max_size=200))
def test_any_bytes_give_plain_data_or_wire_error(message):
    _decode_or_refuse(message)


nodes = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.sampled_from([*"fsltd?nx", "nan", ""]),
    lambda inner: st.lists(inner, max_size=4),
    max_leaves=20,
)


@settings(max_examples=1000, deadline=None)
@given(nodes, st.binary(max_size=24))
def test_any_tree_gives_plain_data_or_wire_error(tree, blob):
    text = json.dumps(tree).encode()
    _decode_or_refuse(struct.pack(">I", len(text)) + text + blob)


def _decode_or_refuse(message):
    try:
        value = wire.decode(message)
    except wire.WireError:
        return
    assert wire.encode(value)  # plain data: what was accepted can be sent again


@pytest.mark.parametrize(
    "tree, blob",
    [
        (["x", "float32", [2], 8], b"1234"),  # fewer bytes than said
        (["x", "float32", [-1], -4], b""),
        (["x", "float32", [2**39, 0, 2**39], 0], b""),  # sizes that overflow, though empty
        (["x", "object", [1], 8], b"12345678"),
        (["x", "float32", [1], 4], b"12345"),  # bytes left over
        (["d", [[["l", []], 1]]], b""),  # a list as a key
        (["f", "1e5"], b""),
        (["l", ["l", ["l"]]], b""),
        ("text", b""),
    ],
)
def test_refused(tree, blob):
    text = json.dumps(tree).encode()
    with pytest.raises(wire.WireError):
        wire.decode(struct.pack(">I", len(text)) + text + blob)


def test_deep_json_is_refused():
    text = b"[" * 100_000
    with pytest.raises(wire.WireError):
        wire.decode(struct.pack(">I", len(text)) + text)
