"""A failure ends the program at once; finally is not run."""


def recording_after(program):
    on, files = False, {}
    for block in ("before", "try", "finally", "after"):
        for call in program[block]:
            if call == "step_that_fails()":
                return {"recording": on, "snapshots": files}
            if call.startswith("_record"):
                on = "None" not in call
            if call.startswith("_dump"):
                files[call.split('"')[1]] = on
    return {"recording": on, "snapshots": files}
