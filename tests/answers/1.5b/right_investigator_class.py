"""A class that keeps its measurements; contradictions found by dropping rows; tensor of row numbers."""

import torch


class Investigator:
    def __init__(self, fit):
        self.fit, self.base = fit, fit.loss()

    def report(self, cause, change, after):
        return {"cause": cause, "change": change, "before": self.base, "after": after}

    def fits(self, name, value):
        self.after = self.fit.loss(**{name: value})
        return self.after < 0.05

    def contradictory_rows(self):
        batch = self.fit.batch()
        groups = {}
        for i, row in enumerate(batch["x"]):
            groups.setdefault(str(row.tolist()), []).append(i)
        y = batch["y"]
        drop = [i for rows in groups.values() for i in rows if y[i] != y[rows[0]]]
        return torch.tensor([i for i in range(len(y)) if i not in drop]) if drop else None

    def investigate(self):
        if self.base < 0.05:
            return self.report("nothing", {}, self.base)
        keep = self.contradictory_rows()
        if keep is not None and self.fits("examples", keep):
            return self.report("contradictory labels", {"examples": keep}, self.after)
        for name, value, cause in (
            ("width", 40, "capacity"),
            ("activation", "relu", "capacity"),
            ("loss", "cross entropy", "unsuitable loss"),
            ("max_norm", 1e3, "regularization"),
            ("weight_decay", 0.0, "regularization"),
            ("label_smoothing", 0.0, "label smoothing"),
        ):
            if self.fits(name, value):
                return self.report(cause, {name: value}, self.after)
        rate = 4.0
        while not self.fits("lr", rate):
            rate /= 1.5
        return self.report("learning rate", {"lr": rate}, self.after)


def why_not_zero(fit):
    return Investigator(fit).investigate()
