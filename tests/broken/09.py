"""Breaks of notebook 09's claims."""

BROKEN = {
    "9.2": {
        "nothing is trained": [("        for _ in range(run.batches()):\n            run.step()", "        pass")],
        "the held-out loss is the training loss": [("record.append((mean_loss(run), run.score()))", "record.append((mean_loss(run),) * 2)")],
        "the example gets its own inputs back": [("neighbor = (row + 1)", "neighbor = row")],
        "the healthy run has nan cells, too": [('a, f = open_run("A"), open_run("F")', 'a, f = open_run("A"), open_run("A")')],
        "every tensor is held by the optimizer": [("movement(open_run(name)) for name", 'movement(open_run("F")) for name')],
        "the tensors are moved up the slope": [("values[tensor] - b.lr() * gradient", "values[tensor] + b.lr() * gradient")],
        "the rate suits the curvature": [('c = open_run("C")', 'c = open_run("F")')],
        "a tenth above is below": [("1.1 * limit", "0.8 * limit")],
        "a tenth below is above": [("0.9 * limit", "1.2 * limit")],
        "the healthy run explodes": [("descent(f, f.lr())", "descent(c, c.lr())")],
        "nothing is forgotten": [('d, g = open_run("D"), open_run("G")', 'd, g = open_run("F"), open_run("G")')],
        "the cleared gradients are not": [("        if clear:", "        if False:")],
        "the healthy run gathers nothing": [("g.step(0, lr=0.0)", "g.backward(0)")],
        "the labels are right": [('e, f = open_run("E"), open_run("F")', 'e, f = open_run("F"), open_run("F")')],
        "nothing is joined": [("        if joined:", "        if False:")],
        "an observable sees every fault": [("sum(nonfinite_cells(run)) > 0,", "sum(nonfinite_cells(run)) >= 0,")],
        "an observable sees nothing": [("growth(run) > 1,", "growth(run) > math.inf,")],
        "broken and healthy are one": [("[observe(open_run(name)) for name in names]", "[observe(open_run(names[1])) for name in names]")],
    },
}
