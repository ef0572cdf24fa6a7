"""Every call is reached, failures or not."""


def recording_after(program):
    on, files = False, {}
    for block in ("before", "try", "finally", "after"):
        for call in program[block]:
            if call.startswith("_record"):
                on = "None" not in call
            if call.startswith("_dump"):
                files[call.split('"')[1]] = on
    return {"recording": on, "snapshots": files}
