"""Frames on a socket: an eight-byte length and as many bytes. A side sends one, then waits for the other's."""

from __future__ import annotations

import socket
import struct

HEADER = struct.Struct(">Q")
AT_ONCE = 1 << 16  # bytes read in one call: nearly every frame whole


def send_frame(sock: socket.socket, payload: bytes) -> None:
    """Send one frame whole and at once: the other side wakes for each part."""
    sock.sendall(HEADER.pack(len(payload)) + payload)


def recv_frame(sock: socket.socket, descriptors: int = 0) -> tuple[bytes, list[int]]:
    """One frame and up to `descriptors` file descriptors that came with it. Errors: EOFError."""
    fds: list[int] = []
    buffer = bytearray()
    while (size := frame_size(buffer)) is None or len(buffer) < HEADER.size + size:
        if descriptors and not fds:
            part, fds, _, _ = socket.recv_fds(sock, AT_ONCE, descriptors)
        else:
            part = sock.recv(AT_ONCE)
        if not part:
            raise EOFError("the other side is gone")
        buffer += part
    return bytes(buffer[HEADER.size :]), list(fds)


def frame_size(buffer: bytearray) -> int | None:
    """Bytes of the frame that begins here, without its header; None while that is not all there."""
    return HEADER.unpack(buffer[: HEADER.size])[0] if len(buffer) >= HEADER.size else None
