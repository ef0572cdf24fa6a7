"""One small function a suspicion, chained with next(); the learning rate on a fine grid."""


def suspicions(fit):
    x, y = fit.batch().values()
    n = len(y)
    equal = (x[:, None, :] == x[None, :, :]).all(-1)
    if bool((equal & (y[:, None] != y[None, :])).any()):
        first = equal.int().argmax(1)
        yield "contradictory labels", {"examples": [i for i in range(n) if int(first[i]) == i]}
        return
    for rate in [0.02, 0.05, 0.1, 0.2, 0.4, 0.8, 1.5]:
        yield "learning rate", {"lr": rate}
    yield "unsuitable loss", {"loss": "cross entropy of log_softmax"}
    yield "regularization", {"weight_decay": 0}
    yield "regularization", {"max_norm": 500}
    yield "label smoothing", {"label_smoothing": 0}
    yield "capacity", {"activation": "relu"}
    yield "capacity", {"width": 48}


def why_not_zero(fit):
    base = fit.loss()
    if base >= 0.05:
        tried = ((cause, change, fit.loss(**change)) for cause, change in suspicions(fit))
        found = next((t for t in tried if t[2] < 0.05), None)
        if found:
            return dict(zip(("cause", "change", "after"), found), before=base)
    return dict(cause="nothing", change={}, before=base, after=base)
