"""Breaks of notebook 08-gpu's claims, as far as they need no device."""

# What is not broken here, and why; on a device these cells assert their claims and controls themselves.
LEFT_OUT = {
    "8.1": "the leak in a real snapshot, and allocated against reserved memory, need a CUDA device",
    "8.10": "synchronized times, the gap in a CUDA profile and fused kernels need a CUDA device",
    "8.12": "NCCL's log needs a CUDA device, and the watchdog's tear-down needs two",
}

BROKEN = {
    "8.1": {
        "a private name has moved": [('"_record_memory_history", "_snapshot"', '"_record_memory_history", "_snapshot_of"')],
        "a public name has moved": [('"memory_allocated", "memory_reserved"', '"memory_allocated", "memory_retained"')],
        "an option has moved": [("memory._record_memory_history).parameters", "memory._dump_snapshot).parameters")],
        "the freed block is alive": [('"state": "inactive"', '"state": "active_allocated"')],
        "freed blocks count as held": [('if block["state"] != "active_allocated":', 'if block["state"] == "free":')],
        "the outermost frame is blamed": [('frames[0]["name"]', 'frames[-1]["name"]')],
        "frames of every file are ours": [('if file is None or f["filename"] == file', "if True")],
    },
    "8.10": {
        "the host never worked": [('longest_idle(modeled["host work between"][1])', 'longest_idle(modeled["long kernels"][1])')],
        "the gap is measured from start to start": [("latest = max(latest or 0.0, start + length)", "latest = start")],
    },
    "8.12": {
        "a documented name is misspelt": [('"TORCH_FR_BUFFER_SIZE",\n', '"TORCH_FR_BUFFER_LENGTH",\n')],
        "the control is spelled right": [('"TORCH_FLIGHT_RECORDER_SIZE"}', '"TORCH_DISTRIBUTED_DEBUG"}')],
        "every text is searched for parts of words": [
            ('rf"\\b{name}\\b"', "name[:24]"),
        ],
        "what is spared tears down": [("mode not in spared", "mode in spared")],
        "the buffer has room": [('{"TORCH_FR_BUFFER_SIZE": "0"}', '{"TORCH_FR_BUFFER_SIZE": "9"}')],
    },
}
