"""The corpora graded by our grader, in one run of the real engine, and what left the sandbox meanwhile."""

from __future__ import annotations

import contextlib
import hashlib
import multiprocessing
import os
import socket
import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import Iterator

import dask
from distributed import Client, LocalCluster, Worker, WorkerPlugin
from nbgrader.api import Gradebook

import autograder
from autograder import wire
from autograder.grading.course import Course
from autograder.grading.engine import StudentResult, grade_class
from autograder.grading.feedback import write_feedback
from autograder.grading.workers import Crew, WarmSandbox
from autograder.judge import course_secret
from autograder.sandbox import Limits, Process

from . import course as small
from .awkward import AWKWARD, SLEEPER
from .hostile import HOSTILE, MARKER
from .rows import Row

LIMITS = Limits(memory=256 << 20, cell_seconds=8.0, notebook_seconds=90.0)
WORKERS = 3  # more than most machines have cores to spare: many rows wait for a limit
ROWS: list[Row] = [*AWKWARD, *HOSTILE]


@dataclass
class Outcome:
    """What came of a row. wrong: what is not as it should be, in words."""

    row: Row
    result: StudentResult | None
    wrong: list[str]
    read: list[str] = field(default_factory=list)

    @property
    def outcomes(self) -> dict[str, str]:
        return {i: item.outcome for i, item in self.result.items.items()} if self.result else {}

    @property
    def gained(self) -> bool:
        return any(m.mark > 0 and "right" not in self.row.want[i] for i, m in self.result.items.items())


@dataclass
class Graded:
    """The whole run: rows, escapes in words, and the course folder for a further look."""

    course: Course
    rows: list[Outcome]
    escapes: list[str]


def grade(folder: Path, pages: bool = True, rows: list[Row] = ROWS) -> Graded:
    """Hand in every row and grade the class, those that are handed in twice in two runs.

    pages: write every feedback page, instead of those alone whose rows are about pages and names.
    """
    with small.registered(), _listener() as (port, calls), _cluster() as client:
        course = small.make(folder / "course")
        where = _where(course, port)
        course_secret(course.secret)
        crew = Crew(scheduler=client.scheduler.address)
        again = [row for row in rows if row.before]
        _hand_in(course, again, where, first=True)
        list(grade_class(course, crew=crew)) if again else []
        _hand_in(course, rows, where)
        before = _fingerprints(course)
        results = {r.student: r for r in grade_class(course, crew=crew)}
        heard = [word for words in client.run(_heard).values() for word in words]
        escapes = [f"a message held {word!r}" for word in heard] + _escapes(course, before, calls)
        failed = write_feedback(course, [r.student for r in rows if pages or _about_pages(r)])
        escapes += [f"no feedback page for {student!r}" for student in failed]
    rows = [_judge(course, row, results.get(row.student)) for row in rows]
    return Graded(course, rows, escapes)


def _about_pages(row: Row) -> bool:
    words = ("HTML", "hidden case's inputs", "terminal", "an image that", "language", "a name", "an id")
    return any(word in row.title for word in words)


def _hand_in(course: Course, rows: list[Row], where: dict, first: bool = False) -> None:
    release = course.release / f"{small.NOTEBOOK}.ipynb"
    for row in rows:
        draft = row.draft(release, row.before if first else None, **where)
        draft.write(course.submitted / row.student / course.assignment)


def _where(course: Course, port: int) -> dict[str, str]:
    return {
        "root": str(course.root),
        "package": str(Path(autograder.__file__).parent),
        "source": str(course.source / f"{small.NOTEBOOK}.ipynb"),
        "secret": str(course.secret),
        "gradebook": str(course.home / "gradebook.db"),
        "neighbor": str(course.submitted / "neighbor" / course.assignment / f"{small.NOTEBOOK}.ipynb"),
        "port": str(port),
    }


class _Prepared(WorkerPlugin):
    """A worker that knows the small course's exercises and listens to what leaves its sandbox."""

    name = "adversarial"

    def setup(self, worker: Worker) -> None:
        self.stack = contextlib.ExitStack()
        self.stack.enter_context(small.registered())
        worker.overheard = self.stack.enter_context(overheard())


@contextlib.contextmanager
def _cluster() -> Iterator[Client]:
    """Local workers with real sandboxes and the limits of this course."""
    multiprocessing.set_forkserver_preload([WarmSandbox.__module__])
    settings = {"distributed.worker.multiprocessing-method": "forkserver"}
    with dask.config.set(settings):
        cluster = LocalCluster(
            n_workers=WORKERS, threads_per_worker=1, host="127.0.0.1",
            dashboard_address=None, memory_limit=0, silence_logs=50,
        )  # fmt: skip
        with cluster, Client(cluster.scheduler_address) as client:
            client.register_plugin(_Prepared())
            client.register_plugin(WarmSandbox(True, LIMITS))
            yield client


@contextlib.contextmanager
def _listener() -> Iterator[tuple[int, list]]:
    """A port of this machine that nobody has a reason to call."""
    calls: list[bytes] = []
    server = socket.create_server(("127.0.0.1", 0))
    datagrams = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    datagrams.bind(server.getsockname())

    def answer() -> None:
        with contextlib.suppress(OSError):
            while True:
                calls.append(server.accept()[0].recv(100))

    def receive() -> None:
        with contextlib.suppress(OSError):
            while True:
                calls.append(datagrams.recv(100))

    for target in (answer, receive):
        threading.Thread(target=target, daemon=True).start()
    yield server.getsockname()[1], calls
    server.close()
    datagrams.close()


@contextlib.contextmanager
def overheard() -> Iterator[list[bytes]]:
    """Every message and print that leaves a sandbox and holds a canary."""
    heard: list[bytes] = []
    decode, take = wire.decode, Process.take_printed

    def listening_decode(message: bytes, *args: int) -> object:
        heard.extend(_canaries(bytes(message)))
        return decode(message, *args)

    def listening_take(self: Process) -> tuple[str, str]:
        texts = take(self)
        heard.extend(_canaries("".join(texts).encode()))
        return texts

    wire.decode, Process.take_printed = listening_decode, listening_take
    try:
        yield heard
    finally:
        wire.decode, Process.take_printed = decode, take


def _heard(dask_worker: Worker) -> list[bytes]:
    return dask_worker.overheard


def _canaries(data: bytes) -> list[bytes]:
    return [word.encode() for word in small.CANARIES.values() if word.encode() in data]


def _fingerprints(course: Course) -> dict[str, str]:
    """Files that grading leaves alone, by their content."""
    package = Path(autograder.__file__).parent
    files = [course.secret, *course.source.iterdir(), *course.release.iterdir(), *package.glob("sandbox/*.py")]
    files += [p for p in course.submitted.rglob("*") if p.is_file() and not p.is_symlink()]
    return {str(p): hashlib.sha256(p.read_bytes()).hexdigest() for p in files}


def _escapes(course: Course, before: dict[str, str], calls: list[bytes]) -> list[str]:
    """What student code did outside of its sandbox, in words."""
    after = _fingerprints(course)
    found = [f"{path} changed" for path in {*before, *after} if before.get(path) != after.get(path)]
    found += [f"the network was reached: {call!r}" for call in calls]
    marks = [*Path(MARKER).parent.glob(f"{Path(MARKER).name}*"), Path.home() / ".adversarial-was-here"]
    marks += [Path("/usr/bin/adversarial"), Path("/etc/adversarial"), Path(autograder.__file__).parent / Path(MARKER).name]
    found += [f"{path} was made" for path in marks if path.exists()]
    found += [f"process {pid} was left" for pid in os.listdir("/proc") if pid.isdigit() and SLEEPER.encode() in _command(pid)]
    with Gradebook(course.db_url, course.course_id) as gradebook:
        if gradebook.find_student("someone").first_name != small.CANARIES["gradebook"]:
            found.append("the gradebook was changed")
    return found


def _command(pid: str) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def _judge(course: Course, row: Row, result: StudentResult | None) -> Outcome:
    if result is None or result.failed:
        return Outcome(row, result, [f"not graded: {result and result.notes}"])
    wrong = []
    for exercise_id, wanted in row.want.items():
        item = result.items[exercise_id]
        allowed = [w for w in ("not attempted", "timed out", "out of memory", "output too large") if w in wanted]
        allowed += [w for w in ("right", "wrong", "crashed") if w in wanted.split()]
        if item.outcome not in allowed:
            wrong.append(f"{exercise_id}: {item.outcome}, not {wanted}")
        if (item.outcome == "right") != (item.mark == item.points) or (item.outcome not in ("right", "partly right") and item.mark):
            wrong.append(f"{exercise_id}: {item.outcome} with {item.mark} points")
    if abs(result.score - sum(item.mark for item in result.items.values())) > 1e-6:
        wrong.append(f"the gradebook says {result.score}")
    notes = " ".join([*result.notes, *(n for item in result.items.values() for n in item.notes)])
    if row.said.replace("\\x1b", "\x1b") not in notes and row.said not in notes:
        wrong.append(f"the notes do not say {row.said!r}: {notes[:300]}")
    texts = _kept(course, row.student)
    read = [name for name, word in _secrets(course).items() if word in texts and (name != "neighbor" or row.student != "neighbor")]
    if str(small.INPUT) in texts and "hidden case's inputs" in row.title:
        wrong.append("a hidden case's inputs are quoted")
    return Outcome(row, result, wrong, read)


def _secrets(course: Course) -> dict[str, str]:
    return {**small.CANARIES, "secret": course.secret.read_text().strip()}


def _kept(course: Course, student: str) -> str:
    """All that grading keeps of a student, for student and instructor."""
    folders = [base / student / course.assignment for base in (course.autograded, course.feedback)]
    return "\n".join(p.read_text(encoding="utf-8") for f in folders if f.is_dir() for p in f.iterdir())
