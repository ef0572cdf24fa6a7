"""Hosts with addresses of their own on this one machine: network namespaces on a bridge, which is in none of them.

Nothing of it is to be seen from the machine's own network, and nothing of that from here.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

NETWORK = "10.77.0"


def missing() -> str:
    """Why hosts can't be made here; empty where they can."""
    if shutil.which("ip") is None:
        return "needs Debian's package iproute2: apt-get install iproute2"
    probe = f"lan-probe-{os.getpid()}"
    done = subprocess.run(["ip", "netns", "add", probe], capture_output=True, text=True)
    subprocess.run(["ip", "netns", "delete", probe], capture_output=True)
    return f"needs the right to make network namespaces, as root has: {done.stderr.strip()}" if done.returncode else ""


def ip(*words: str) -> str:
    """Run `ip`. Returns: what it printed."""
    done = subprocess.run(["ip", *words], capture_output=True, text=True)
    assert done.returncode == 0, f"ip {' '.join(words)}: {done.stderr}"
    return done.stdout


class Host:
    """A host of the network; `start` and `run` run programs there."""

    def __init__(self, lan: Lan, name: str, number: int) -> None:
        self.lan, self.name, self.address = lan, name, f"{NETWORK}.{number}"
        self.space = f"{lan.prefix}-{name}"
        ip("netns", "add", self.space)
        ip("link", "add", "eth0", "netns", self.space, "type", "veth", "peer", "name", name, "netns", lan.switch)
        ip("-n", lan.switch, "link", "set", name, "master", "bridge", "up")
        ip("-n", self.space, "link", "set", "lo", "up")
        ip("-n", self.space, "address", "add", f"{self.address}/24", "dev", "eth0")
        self.plug(True)

    def plug(self, connected: bool) -> None:
        """Plug the host's cable in, or pull it out."""
        ip("-n", self.space, "link", "set", "eth0", "up" if connected else "down")

    def start(self, *command: object, hidden: tuple[Path, ...] = (), **environment: str) -> subprocess.Popen:
        """Start a program here; it finds the `hidden` folders empty, and what it prints is in `log`."""
        hide = "".join(f"mount -t tmpfs none '{folder}'; " for folder in hidden)  # in a mount namespace of its own
        words = ["ip", "netns", "exec", self.space, "bash", "-c", f'set -e; {hide}exec "$@"', "bash", *map(str, command)]
        env = {**os.environ, **environment}
        with open(self.log, "ab") as log:
            return subprocess.Popen(words, stdout=log, stderr=log, env=env, cwd="/", start_new_session=True)

    def run(self, *command: object, cwd: Path | str = "/", timeout: float = 120) -> subprocess.CompletedProcess:
        """Run a program here to its end."""
        words = ["ip", "netns", "exec", self.space, *map(str, command)]
        return subprocess.run(words, cwd=cwd, capture_output=True, text=True, timeout=timeout)

    def kill(self) -> None:
        """Every program of this host dies at once, as when its power fails."""
        for pid in ip("netns", "pids", self.space).split():
            os.kill(int(pid), signal.SIGKILL)

    @property
    def log(self) -> Path:
        return self.lan.folder / f"{self.name}.log"


class Lan:
    """A network of hosts. Use as a context manager: in the end all their programs are killed."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.prefix = folder, f"lan{os.getpid()}"
        self.switch = f"{self.prefix}-switch"
        self.hosts: dict[str, Host] = {}

    def __enter__(self) -> Lan:
        ip("netns", "add", self.switch)
        ip("-n", self.switch, "link", "add", "bridge", "type", "bridge")
        ip("-n", self.switch, "link", "set", "bridge", "up")
        return self

    def __exit__(self, *_: object) -> None:
        for host in self.hosts.values():
            while ip("netns", "pids", host.space):
                host.kill()
            ip("netns", "delete", host.space)
        ip("netns", "delete", self.switch)

    def host(self, name: str) -> Host:
        """A new host on this network."""
        self.hosts[name] = Host(self, name, len(self.hosts) + 1)
        return self.hosts[name]


def eventually(true: Callable[[], object], seconds: float = 90) -> object:
    """Wait until something holds. Returns: what it gave."""
    limit = time.monotonic() + seconds
    while not (found := true()):
        assert time.monotonic() < limit, "it did not come to pass"
        time.sleep(0.25)
    return found
