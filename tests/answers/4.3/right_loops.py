"""Style: plain Python loops over rows and positions."""


def one(run):
    sums, counts = [], []
    for batch in run["batches"]:
        rows, mask = batch["targets"].tolist(), batch["mask"].tolist()
        scored = [(r, c) for r in range(len(rows)) for c in range(len(rows[r])) if mask[r][c]]
        counts.append(len(scored))
        if not scored:
            continue
        if run["reduction"] == "none":
            weights = run["class_weights"]
            for r, c in scored:
                weight = 1.0 if weights is None else float(weights[rows[r][c]])
                sums.append(float(batch["loss"][r, c]) / weight)
        else:
            factor = len(scored) if run["reduction"] == "mean" else 1
            sums.append((batch["loss"] - run["penalty"]) * factor)
    return sum(sums) / sum(counts)


def comparable_losses(run_a, run_b):
    return one(run_a), one(run_b)
