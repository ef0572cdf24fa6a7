"""A dump while recording is off writes nothing."""


def recording_after(program):
    on, files = False, {}
    failed = None
    for block in ("before", "try", "finally", "after"):
        if failed == "before" or (failed and block == "after"):
            continue
        for call in program[block]:
            if call == "step_that_fails()":
                failed = block
                break
            if call.startswith("_record"):
                on = "None" not in call
            if call.startswith("_dump") and on:
                files[call.split('"')[1]] = on
    return {"recording": on, "snapshots": files}
