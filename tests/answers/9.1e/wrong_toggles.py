"""Each call of _record_memory_history turns the recording over."""


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
                on = not on
            if call.startswith("_dump"):
                files[call.split('"')[1]] = on
    return {"recording": on, "snapshots": files}
