"""Breaks of notebook 00's claims."""

BROKEN = {
    "0.1": {
        "the loss does not fall": [("lr=0.01", "lr=0.0")],
        "(a) the labels stay with their inputs": [
            ("y[torch.randperm(100, generator=torch.Generator().manual_seed(4))]", "y.clone()")
        ],
        "(b) the target is not among the inputs": [("6.0 * F.one_hot(y, CLASSES)", "0.0 * F.one_hot(y, CLASSES)")],
        "(b) the control leaves the target's columns in place": [("leaky[order, FEATURES:]", "leaky[:, FEATURES:]")],
        "(c) the labels come in order, where both axes agree": [
            ("torch.tensor([1, 2, 3, 4, 5, 6, 7, 8, 9, 0])", "torch.arange(10)")
        ],
        "a permutation each is one for both": [
            ('torch.randperm(rows, generator=g) if shuffle == "a permutation each"', 'inputs if shuffle == "a permutation each"')
        ],
        "labels one row late are on time": [("inputs.roll(1)", "inputs")],
    },
    "0.2": {
        "sigma can't become negative": [("self.sigma.log()", "self.sigma.abs().log()")],
        "the random state is not restored": [('if left_out != "rng":', "if False:")],
        "the optimizer's state is not restored": [('if left_out != "optimizer":', "if False:")],
        "the parameters are restored where they are left out": [('if left_out != "parameters":', "if True:")],
        "the optimizer's state is restored where it is left out": [('if left_out != "optimizer":', "if True:")],
        "the random state is restored where it is left out": [('if left_out != "rng":', "if True:")],
        "the ids are restored where they are left out": [('other_ids if left_out == "ids" else state["ids"]', 'state["ids"]')],
        "the configuration is restored where it is left out": [
            ('DEFAULTS if left_out == "config" else state["config"]', 'state["config"]')
        ],
    },
}
