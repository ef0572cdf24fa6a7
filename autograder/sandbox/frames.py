"""Frames on a socket: an eight-byte length and as many bytes."""

from __future__ import annotations

import socket
import struct

HEADER = struct.Struct(">Q")


def send_frame(sock: socket.socket, payload: bytes) -> None:
    """Send one frame whole and at once: the other side wakes for each part."""
    sock.sendall(HEADER.pack(len(payload)) + payload)


def recv_frame(sock: socket.socket, descriptors: int = 0) -> tuple[bytes, list[int]]:
    """One frame and up to `descriptors` file descriptors that came with it. Errors: EOFError."""
    fds: list[int] = []
    header = b""
    while len(header) < HEADER.size:
        want = HEADER.size - len(header)
        if descriptors and not fds:
            part, fds, _, _ = socket.recv_fds(sock, want, descriptors)
        else:
            part = sock.recv(want)
        if not part:
            raise EOFError("the other side is gone")
        header += part
    size = HEADER.unpack(header)[0]
    body = bytearray()
    while len(body) < size:
        part = sock.recv(min(size - len(body), 1 << 20))
        if not part:
            raise EOFError("the other side is gone")
        body += part
    return bytes(body), list(fds)
