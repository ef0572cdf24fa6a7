"""The trusted side of the sandbox: start a template, fork it, and talk to the forks.

Nothing that arrives is believed to be more than data: replies pass `wire.decode`,
have a limit in bytes and in time, and end in `ProcessLost` when they break a rule.
"""

from __future__ import annotations

import os
import pickle
import select
import signal
import socket
import subprocess
import sys
import time
from typing import Any, Callable

from .. import wire
from . import bubblewrap
from .frames import AT_ONCE, HEADER, frame_size, send_frame
from .limits import Limits, ProcessLost, SandboxUnavailable

START_SECONDS = 120
FORK_SECONDS = 5  # of a student's process, which may have been told not to fork


class Process:
    """One process inside: a socket to ask it, and what it prints on descriptors 1 and 2."""

    def __init__(self, sock: socket.socket, pipes: tuple[int, int], parent: Process | None, pid: int, limits: Limits):
        self.sock, self.parent, self.pid, self.limits = sock, parent, pid, limits
        self.printed: dict[int, bytearray] = {fd: bytearray() for fd in pipes if fd >= 0}
        self.dropped = 0
        self.alive = True
        self.kills = 0  # of processes below this one, by somebody outside of the sandbox

    def fork(self, isolate: bool = False) -> Process:
        """Fork it: same memory, own life. `isolate` gives namespaces of its own, and the limits.

        Errors: ProcessLost for a student's process, SandboxUnavailable for a template that can't.
        """
        ours, theirs = socket.socketpair()
        out, err = os.pipe(), os.pipe()
        limits = self.limits.of_process() if isolate else {}
        request = pickle.dumps({"op": "fork", "isolate": isolate, "limits": limits})
        try:
            socket.send_fds(self.sock, [HEADER.pack(len(request)), request], [theirs.fileno(), out[1], err[1]])
            pid = self._receive(time.monotonic() + (START_SECONDS if isolate else FORK_SECONDS))
        except (OSError, EOFError, wire.WireError):
            pid = None
        finally:
            theirs.close()
            os.close(out[1])
            os.close(err[1])
        if type(pid) is not int:
            ours.close()
            os.close(out[0])
            os.close(err[0])
            lost = self._lost("crashed", "the process is gone")
            if isolate:  # the template's failure is nobody's score
                raise SandboxUnavailable("the sandbox could not start a process for the submission")
            raise lost
        return Process(ours, (out[0], err[0]), self, pid, self.limits)

    def cell(self, source: str, seconds: float) -> dict:
        """Run a cell; see `cells.run`. Errors: ProcessLost."""
        return self._exchange({"op": "cell", "source": source}, seconds)

    def call(self, seconds: float, answer_ask: Callable[..., dict], **request: Any) -> dict:
        """Call a student's name; see `cells.call`. `answer_ask` answers live objects. Errors: ProcessLost."""
        return self._exchange({"op": "call", **request}, seconds, answer_ask)

    def kill(self, ended: bool = False) -> int | None:
        """End it with all that it started. Returns the exit code of one that had ended by itself."""
        if not self.alive:
            return None
        self.alive = False
        self.sock.close()
        code = None
        if self.parent is not None and self.parent.alive:
            try:
                reply = self.parent._exchange({"op": "kill", "pid": self.pid, "ended": ended}, 30)
                code = reply.get("code") if type(reply) is dict else None
                if code == -signal.SIGKILL and reply.get("cause") != "memory":
                    self._template().kills += 1
            except ProcessLost as lost:  # the whole submission was ended, and this process with it
                code = -9 if lost.outcome == "out of memory" else None
        self._drain(0)
        for fd in self.printed:
            os.close(fd)
        self.texts = tuple(bytes(b).decode("utf-8", "replace") for b in self.printed.values())
        return code if type(code) is int else None

    def _template(self) -> Process:
        return self if self.parent is None else self.parent._template()

    def take_printed(self) -> tuple[str, str]:
        """What it printed on descriptors 1 and 2 since the last call, cut to the limit."""
        if not self.alive:
            texts, self.texts = getattr(self, "texts", ("", "")), ("", "")
            return texts
        self._drain(0)
        texts = []
        for data in self.printed.values():
            texts.append(bytes(data).decode("utf-8", "replace"))
            data.clear()
        if self.dropped:
            texts[0] += f"\n[{self.dropped:,} bytes more were printed and are not shown]\n"
            self.dropped = 0
        return tuple(texts)

    def _exchange(self, request: dict, seconds: float, answer_ask: Callable | None = None) -> Any:
        deadline = time.monotonic() + seconds
        try:
            self.sock.setblocking(True)
            self.sock.settimeout(seconds)
            send_frame(self.sock, pickle.dumps(request))
            while True:
                reply = self._receive(deadline)
                if not (answer_ask and type(reply) is dict and "ask" in reply):
                    return reply
                send_frame(self.sock, wire.encode(answer_ask(reply["ask"])))
        except TimeoutError:
            raise self._lost("timed out", f"no answer within {seconds:g} s") from None
        except (EOFError, OSError):
            raise self._lost("crashed", "the process ended before it answered") from None
        except wire.TooLarge as error:
            raise self._lost("output too large", str(error)) from None
        except wire.WireError:
            raise self._lost("crashed", "what came back was not a message") from None

    def _receive(self, deadline: float) -> Any:
        """One decoded frame, draining what is printed meanwhile."""
        buffer = bytearray()
        while True:
            size = frame_size(buffer)
            if size is not None and size > self.limits.reply:
                raise wire.TooLarge(f"{size:,} bytes came back; {self.limits.reply:,} are allowed")
            if size is not None and len(buffer) >= HEADER.size + size:
                return wire.decode(bytes(buffer[HEADER.size :]))  # refused where more came than was asked for
            left = deadline - time.monotonic()
            if left <= 0:
                raise TimeoutError
            if self._drain(left):
                part = self.sock.recv(AT_ONCE)
                if not part:
                    raise EOFError
                buffer += part

    def _drain(self, seconds: float) -> bool:
        """Read what was printed; True when the socket has something. Waits `seconds` at most."""
        waiting = [fd for fd in self.printed if fd not in self._closed]
        sockets = [self.sock] if self.sock.fileno() >= 0 else []
        ready, _, _ = select.select(sockets + waiting, [], [], max(0.0, min(seconds, 1.0)))
        for fd in ready:
            if fd is not self.sock:
                self._read_printed(fd)
        return self.sock in ready

    @property
    def _closed(self) -> set[int]:
        return self.__dict__.setdefault("_closed_fds", set())

    def _read_printed(self, fd: int) -> None:
        data = os.read(fd, 1 << 16)
        if not data:
            self._closed.add(fd)
        room = max(0, self.limits.printed - len(self.printed[fd]))
        self.printed[fd] += data[:room]
        self.dropped += len(data) - len(data[:room])

    def _lost(self, outcome: str, text: str) -> ProcessLost:
        code = self.kill(ended=outcome == "crashed")
        if outcome == "crashed" and code == -9:
            return ProcessLost("out of memory", "the process was ended by the system: out of memory")
        if outcome == "crashed" and code is not None:
            how = f"by signal {-code}" if code < 0 else f"with exit code {code}"
            text = f"{text} ({how})"
        return ProcessLost(outcome, text)


class Sandbox(Process):
    """A warm template; `open` forks a process for one submission.

    walls: build them with bubblewrap. Without, student code runs as this user.
    Errors: SandboxUnavailable when bubblewrap is missing or the template does not start.
    """

    def __init__(self, walls: bool = True, limits: Limits = Limits()) -> None:
        if walls and not bubblewrap.available():
            raise SandboxUnavailable(bubblewrap.MISSING)
        self.walls = walls
        ours, theirs = socket.socketpair()
        args = ["-P", "-m", "autograder.sandbox.server", str(theirs.fileno()), *(["--walls"] if walls else [])]
        command = bubblewrap.command(args) if walls else [sys.executable, *args]
        env = None if walls else {**os.environ, **bubblewrap.environment(), "PATH": os.environ["PATH"]}
        reader, writer = os.pipe()
        self.runner = subprocess.Popen(
            command, pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL, stdout=writer, stderr=writer, env=env
        )
        theirs.close()
        os.close(writer)
        super().__init__(ours, (reader, -1), None, self.runner.pid, limits)
        try:
            self._receive(time.monotonic() + START_SECONDS)
        except (EOFError, TimeoutError, OSError, wire.WireError):
            self._drain(0.2)
            said = bytes(self.printed[reader]).decode("utf-8", "replace").strip()
            self.close()
            raise SandboxUnavailable(f"the sandbox did not start: {said[-800:] or 'no message'}") from None

    def open(self) -> Process:
        """A fresh process for one submission, apart from all others."""
        return self.fork(isolate=True)

    def close(self) -> None:
        """End the template and everything that it started."""
        self.runner.kill()
        self.runner.wait()
        if self.alive:
            self.alive = False
            self.sock.close()
            for fd in self.printed:
                os.close(fd)

    def __enter__(self) -> Sandbox:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()
