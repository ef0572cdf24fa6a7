"""Overfits one batch; a run that passes is called healthy."""

import math


def diagnose(run):
    first = run.loss(0)
    start = run.parameters()
    for _ in range(100):
        run.step(0)
    last = run.loss(0)
    stuck = [name for name, p in run.parameters().items() if p.equal(start[name])]
    if math.isnan(first):
        fault = "nan input"
    elif not last < 10 * first:
        fault = "learning rate"
    elif stuck:
        fault = "wrong parameter"
    else:
        fault = "healthy"
    return {"fault": fault, "observable": {"value": last / first, "ids": stuck}, "control": {"value": first}}
