"""First the calls that are reached, as one list; then one pass over them."""


def reached(block):
    for position, call in enumerate(block):
        if call == "step_that_fails()":
            return block[:position], True
    return block, False


def recording_after(program):
    calls, failed = reached(program["before"])
    calls = list(calls)
    if not failed:
        inner, broken = reached(program["try"])
        last, torn = reached(program["finally"])
        calls += [*inner, *last]
        if not broken and not torn:
            calls += reached(program["after"])[0]
    on, files = False, {}
    for call in calls:
        name, _, rest = call.partition("(")
        if name == "_record_memory_history":
            on = rest != "enabled=None)"
        elif name == "_dump_snapshot":
            files[rest.strip('")')] = on
    return {"recording": on, "snapshots": files}
