"""Writes the program as Python and executes it against a stand-in for torch.cuda.memory."""

import textwrap


def recording_after(program):
    on, files = [False], {}

    def record(enabled="all", max_entries=0):
        on[0] = enabled is not None

    def dump(path):
        files[path] = on[0]

    def fails():
        raise ArithmeticError

    def nothing():
        return None

    names = {
        "_record_memory_history": record,
        "_dump_snapshot": dump,
        "step_that_fails": fails,
        "training_step": nothing,
        "empty_cache": nothing,
        "reset_peak_memory_stats": nothing,
        "memory_summary": nothing,
    }

    def body(block):
        return textwrap.indent("\n".join([*program[block], "pass"]), "    ")

    source = "\n".join(program["before"]) + "\ntry:\n" + body("try") + "\nfinally:\n" + body("finally") + "\n"
    source += "\n".join(program["after"])
    try:
        exec(source, names)
    except ArithmeticError:
        pass
    return {"recording": on[0], "snapshots": files}
