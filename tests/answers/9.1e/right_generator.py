"""A generator yields the calls that are reached; a class keeps the state."""


class Recorder:
    def __init__(self):
        self.on, self.files = False, {}

    def call(self, text):
        if "_record_memory_history" in text:
            self.on = not text.endswith("(enabled=None)")
        elif "_dump_snapshot" in text:
            self.files[text.split('"')[1]] = self.on


def calls(program):
    stopped = False
    for block in ("before", "try", "finally", "after"):
        if stopped and block != "finally":
            continue
        for text in program[block]:
            if "fails" in text:
                stopped = True
                break
            yield text
        if stopped and block == "before":
            return


def recording_after(program):
    recorder = Recorder()
    for text in calls(program):
        recorder.call(text)
    return {"recording": recorder.on, "snapshots": recorder.files}
