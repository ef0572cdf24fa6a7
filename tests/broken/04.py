"""Breaks of notebook 04's claims."""

BROKEN = {
    "4.1": {
        "the label can be learned": [('three_losses("arbitrary")', 'three_losses("shared")')],
        "the rows are not shuffled": [
            ("order = torch.randperm(len(x), generator=torch.Generator().manual_seed(0))", "order = torch.arange(len(x))")
        ],
        "the new people are the old ones": [("people(40, 10, world, seed=2)", "people(40, 10, world, seed=1)")],
        "the control's label can't be learned": [('three_losses("shared")', 'three_losses("arbitrary")')],
    },
    "4.2": {
        "there is no dropout": [("modes_run(p=0.8)", "modes_run(p=0.0)")],
        "the control has dropout": [("modes_run(p=0.0, steps=40)", "modes_run(p=0.8, steps=40)")],
    },
    "4.3": {
        "there is no penalty": [("for name, value in recipes().items():", "penalty = 0.0\nfor name, value in recipes().items():")],
        "the classes weigh the same": [
            ("for name, value in recipes().items():", "class_weight = torch.ones(2)\nfor name, value in recipes().items():")
        ],
        "nothing is padding": [
            ("for name, value in recipes().items():", "scored[:] = True\nfor name, value in recipes().items():")
        ],
        "the control has padding": [("torch.ones_like(scored), torch.ones(2), 0.0", "scored, torch.ones(2), 0.0")],
        "the control has a penalty": [("torch.ones_like(scored), torch.ones(2), 0.0", "torch.ones_like(scored), torch.ones(2), 0.7")],
        "the two runs are one": [("torch.tensor([0.0, 1.25])", "torch.tensor([4.0, 0.25])")],
        "another weighting tells them apart": [("weights = torch.tensor([1.0, 4.0])", "weights = torch.tensor([1.0, 3.0])")],
    },
    "4.4": {
        "people are held out both times": [("in (by_row, by_person):", "in (by_person, by_person):")],
        "rows are shuffled both times": [("in (by_row, by_person):", "in (by_row, by_row):")],
        "the label can be learned": [('world="arbitrary"', 'world="shared"')],
        "the control's rows share a person": [
            ('estimates(rows_each=1, world="shared", count=400)', 'estimates(rows_each=10, world="arbitrary", count=40)')
        ],
        "the value does not wander": [("steps.cumsum(1) if memory else steps", "steps")],
        "the control wanders, too": [("steps.cumsum(1) if memory else steps", "steps.cumsum(1)")],
        "the last days are any days": [("last_days = torch.arange(400) >= 320", "last_days = torch.arange(400) % 5 == 0")],
        "the twin is equal to the last bit": [("torch.tensor([0.61, -1.20, 0.33, 2.87])", "original.clone()")],
        "the twin is none": [("torch.tensor([0.61, -1.20, 0.33, 2.87])", "original + 1")],
        "the stranger's differences do not cancel": [("1.333, 1.871", "1.333, 3.871")],
    },
    "4.5": {
        "validation was measured at the same place": [("+ 3.0  # validation", "+ 0.0  # validation")],
        "what is fitted after the split sees both sides": [("else (a, train_rows)", "else (torch.cat([a, b]), everything)")],
        "what is fitted before the split sees one side": [("(torch.cat([a, b]), everything) if", "(a, train_rows) if")],
        "the control changes nothing": [("a[0] += 10.0 * change_train", "a[0] += 0.0 * change_train")],
        "the flattered scaler is honest": [
            ("((val_rows - everything.mean()) / everything.std())", "((val_rows - train_rows.mean()) / train_rows.std())")
        ],
    },
}
