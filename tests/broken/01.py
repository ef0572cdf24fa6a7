"""Breaks of notebook 01's claims."""

BROKEN = {
    "1.1": {
        "three steps are no fit": [("steps=80", "steps=3")],
        "the rate is zero": [("lr=1.0", "lr=0.0")],
        "the frozen layer is not frozen": [("requires_grad_(False)", "requires_grad_(True)")],
    },
    "1.2": {
        "five steps instead of 250": [("fit(model, x, y)", "fit(model, x, y, steps=5)")],
        "the rate is not 1": [("fit(model, x, y)", "fit(model, x, y, lr=0.01)")],
        "the control has a rate": [("lr=0.0", "lr=1.0")],
    },
    "1.3": {
        "five steps memorize nothing": [("fit(model, x, mixed_up)", "fit(model, x, mixed_up, steps=5)")],
        "the labels are not permuted": [("y[torch.tensor([1, 2, 3, 4, 5, 6, 7, 0])]", "y.clone()")],
        "gradients are cleared where forgotten": [("        if clear:", "        if True:")],
        "gradients are forgotten where cleared": [("        if clear:", "        if False:")],
        "without zero_grad the test fails": [("lr=0.05", "lr=0.0")],
        "permuted labels get fewer steps": [
            ("fit(linear(), x, mixed_up, steps=steps)", "fit(linear(), x, mixed_up, lr=1e-3, steps=steps)")
        ],
    },
    "1.4": {
        "the labels agree": [("torch.ones(2, 4), torch.tensor([0, 1])", "torch.ones(2, 4), torch.tensor([0, 0])")],
        "the inputs differ": [("torch.ones(2, 4)", "torch.eye(2, 4)")],
        "the logits are not zero": [("torch.zeros(2, 2)", "torch.eye(2)[[0, 0]]")],
        "the control contradicts itself too": [("torch.tensor([0, 0])", "torch.tensor([0, 1])")],
        "no pair in the batch is contradictory": [("x_clash[7] = x_clash[0]", "x_clash[7] = x_clash[7]")],
    },
    "1.5": {
        "the labels are not smoothed": [
            ("loss_fn=nn.CrossEntropyLoss(label_smoothing=0.1)", "loss_fn=nn.CrossEntropyLoss(label_smoothing=0.0)")
        ],
        "the floor is that of another smoothing": [("smoothed_target(0.1, 3)", "smoothed_target(0.2, 3)")],
        "the floor leaves the label its share": [("smoothing / classes, dtype", "smoothing / (classes - 1), dtype")],
        "the control is smoothed, too": [
            ("plain = fit(linear(), x, y, steps=1000)",
             "plain = fit(linear(), x, y, steps=1000, loss_fn=nn.CrossEntropyLoss(label_smoothing=0.1))")
        ],
        "softmax first is not": [('"softmax first": lambda z: z.softmax(1)', '"softmax first": lambda z: z')],
        "log_softmax first is a softmax": [("lambda z: z.log_softmax(1)", "lambda z: z.softmax(1)")],
        "a repair does not repair its fault": [('"plain logits": dict(squash="logits")', '"plain logits": dict(width=64)')],
    },
    "1.6": {
        "the wide network is alive": [('"wide, dead": wide(-10.0)', '"wide, dead": wide(0.0)')],
        "the control is dead, too": [('"wide, alive": wide(0.0)', '"wide, alive": wide(-10.0)')],
        "no network gets the steps it needs": [("steps=600", "steps=6")],
    },
    "1.7": {
        "a ReLU stays between the two maps": [("gap = (two(points)", "gap = (two[1](two[0](points).relu())")],
        "the product forgets the first bias": [("two[1].weight @ two[0].bias + two[1].bias", "two[1].bias")],
        "the separable task is not": [("torch.tensor([0, 1, 1, 1])", "torch.tensor([0, 1, 1, 0])")],
        "XOR is fitted through a ReLU": [("*([nn.ReLU()] if relu else [])", "nn.ReLU()")],
        "the control has no ReLU either": [("*([nn.ReLU()] if relu else []), ", "")],
    },
    "1.8": {
        "the targets are of the wrong shape": [("F.one_hot(labels, 3).float()", "labels[:, None].float()")],
        "the objective is cross entropy after all": [("F.mse_loss(logits, targets)", "F.cross_entropy(logits, labels)")],
        "it does not fit": [("lr=1.0, steps=600", "lr=1.0, steps=6")],
    },
}
