"""A PostgreSQL server of our own in a scratch folder, for the tests of the gradebook."""

from __future__ import annotations

import os
import pwd
import secrets
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path

OWNER = "instructor"
QUICK = ["fsync=off", "synchronous_commit=off", "full_page_writes=off", "shared_buffers=16MB", "max_connections=20"]


def programs() -> Path | None:
    """Folder of initdb and postgres: Debian keeps them off the PATH."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb")) or [shutil.which("initdb")]
    return Path(found[-1]).resolve().parent if found[-1] else None


class Server:
    """Listens on 127.0.0.1 alone; whoever connects must give `password`. Use as a context manager."""

    def __init__(self) -> None:
        self.bin = programs()
        self.password = secrets.token_hex(16)
        self.folder = Path(tempfile.mkdtemp(prefix="autograder-postgres-"))
        self.process: subprocess.Popen | None = None
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        self.pgpass = self.folder / "pgpass"
        self.pgpass.write_text(f"127.0.0.1:{self.port}:*:{OWNER}:{self.password}\n")
        self.pgpass.chmod(0o600)

    def __enter__(self) -> Server:
        words = self.folder / "password"
        words.write_text(self.password)
        if os.geteuid() == 0:
            for path in (self.folder, words):
                shutil.chown(path, *self._user())
        setup = ["-D", self.folder / "data", "-U", OWNER, "--auth=scram-sha-256", f"--pwfile={words}", "-E", "UTF8", "--locale=C.UTF-8", "--no-sync"]
        done = subprocess.run([*self._as_user(), self.bin / "initdb", *setup], cwd=self.folder, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
        shutil.rmtree(self.folder)

    def start(self) -> None:
        """Start the server and wait until it answers."""
        settings = [word for line in (*QUICK, "listen_addresses=127.0.0.1", f"unix_socket_directories={self.folder}") for word in ("-c", line)]
        command = [*self._as_user(), self.bin / "postgres", "-D", self.folder / "data", "-p", str(self.port), *settings]
        self.process = subprocess.Popen(command, cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        limit = time.monotonic() + 60
        while subprocess.run([self.bin / "pg_isready", "-q", "-h", "127.0.0.1", "-p", str(self.port)]).returncode:
            assert self.process.poll() is None and time.monotonic() < limit, "PostgreSQL did not start"
            time.sleep(0.1)

    def stop(self) -> None:
        """Stop it as an administrator would who doesn't wait for those connected."""
        self.process.send_signal(signal.SIGINT)
        self.process.wait(60)

    def url(self, database: str, password: str | None = None) -> str:
        """URL of a database; without a password the driver takes it from the file `pgpass`."""
        word = f":{password}" if password else ""
        return f"postgresql+psycopg://{OWNER}{word}@127.0.0.1:{self.port}/{database}"

    def create(self, database: str, like: str = "template0") -> str:
        """Make a database as a copy of another. Returns: its URL, without the password."""
        import psycopg

        with psycopg.connect(self.url("postgres", self.password).replace("+psycopg", ""), autocommit=True) as connection:
            connection.execute(f'CREATE DATABASE "{database}" TEMPLATE "{like}"')
        return self.url(database)

    def _as_user(self) -> list[str]:
        """PostgreSQL refuses to run as root, and should not outlive the tests."""
        if os.geteuid() == 0:
            uid, gid = self._user()
            return ["setpriv", f"--reuid={uid}", f"--regid={gid}", "--clear-groups", "--pdeathsig=INT"]
        return ["setpriv", "--pdeathsig=INT"]

    @staticmethod
    def _user() -> tuple[int, int]:
        entry = pwd.getpwnam("postgres")  # made by Debian's package
        return entry.pw_uid, entry.pw_gid
