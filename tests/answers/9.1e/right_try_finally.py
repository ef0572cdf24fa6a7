"""Lets Python's own try and finally decide which calls are reached."""

import re


def recording_after(program):
    state = {"recording": False, "snapshots": {}}

    def run(calls):
        for call in calls:
            if call == "step_that_fails()":
                raise RuntimeError(call)
            if call.startswith("_record_memory_history"):
                state["recording"] = "enabled=None" not in call
            if call.startswith("_dump_snapshot"):
                state["snapshots"][re.search('"(.*)"', call)[1]] = state["recording"]

    try:
        run(program["before"])
        try:
            run(program["try"])
        finally:
            run(program["finally"])
        run(program["after"])
    except RuntimeError:
        pass
    return state
