"""Names the variable instead of the cause."""


def why_not_zero(fit):
    before = fit.loss()
    if before < 0.05:
        return {"cause": "nothing", "change": {}, "before": before, "after": before}
    batch = fit.batch()
    seen, conflict = {}, False
    for row, label in zip(batch["x"].tolist(), batch["y"].tolist()):
        conflict |= seen.setdefault(tuple(row), label) != label
    if conflict:
        keep, met = [], set()
        for i, row in enumerate(map(tuple, batch["x"].tolist())):
            if row not in met:
                met.add(row)
                keep.append(i)
        after = fit.loss(examples=keep)
        return {"cause": "contradictory labels", "change": {"examples": keep}, "before": before, "after": after}
    repairs = [
        ("label smoothing", "label_smoothing", [0.0]),
        ("regularization", "weight_decay", [0.0]),
        ("regularization", "max_norm", [1000.0]),
        ("unsuitable loss", "loss", ["cross entropy"]),
        ("capacity", "width", [32, 64]),
        ("capacity", "activation", ["relu"]),
        ("learning rate", "lr", [0.001, 0.01, 0.1, 0.3, 0.5, 1.0, 2.0, 3.0]),
    ]
    for cause, name, values in repairs:
        for value in values:
            after = fit.loss(**{name: value})
            if after < 0.05:
                return {"cause": name, "change": {name: value}, "before": before, "after": after}
    return {"cause": "nothing", "change": {}, "before": before, "after": before}
