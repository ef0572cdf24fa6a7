"""Breaks of notebook 07's claims."""

BROKEN = {
    "7.1": {
        "every shuffle is joint": [("label_ids = prepared(how)", 'label_ids = prepared("one shuffle")')],
        "every shuffle is torn": [("label_ids = prepared(how)", 'label_ids = prepared("two shuffles")')],
        "the one-batch test fails": [("fit(inputs[:12], labels[:12])", "fit(inputs[:12], labels[:12], steps=2)")],
        "the audit forgets the order": [
            ("(input_ids != label_ids).sum()", "(input_ids.sort().values != label_ids.sort().values).sum()")
        ],
        "the torn pairs are whole": [
            ('_, torn_labels, input_ids, _ = prepared("two shuffles")', '_, torn_labels, input_ids, _ = prepared("one shuffle")')
        ],
        "the counts of the labels tell": [
            ('prepared("two shuffles")', 'prepared("two shuffles")\ntorn_labels = torn_labels.clamp(max=1)')
        ],
    },
    "7.2": {
        "the logits are moderate": [("[[1000.0, -1000.0]]", "[[10.0, -10.0]]")],
        "another label asks the same": [("logits.softmax(1)[0, 0]", "logits.softmax(1)[0, 1]")],
        "the epsilon is a repair": [("logits.softmax(1)[0, 1] + 1e-9", "logits.softmax(1)[0, 1] + 1e-9 * logits[0, 1].abs()")],
        "the stable form is not": [("F.cross_entropy(logits, target)", "-torch.log(logits.softmax(1)[0, 1])")],
        "the control is extreme": [("torch.randn(5, 3,", "100 * torch.randn(5, 3,")],
    },
    "7.3": {
        "the mode is ignored": [("outputs(kind, training, record)", "outputs(kind, False, record)")],
        "the recording is ignored": [("outputs(kind, training, record)", "outputs(kind, training, True)")],
        "the bare call obeys the mode": [
            ('for kind, name in ((WithModule, "module")',
             'WithBareCall.forward = WithModule.forward\nfor kind, name in ((WithModule, "module")')
        ],
        "inference mode meets no dropout": [("WithModule().train(), torch.randn(1, 6)", "WithModule().eval(), torch.randn(1, 6)")],
        "the seeded call obeys eval()": [("WithBareCall().eval(), WithModule().eval()", "WithModule().eval(), WithModule().eval()")],
        "no seed": [("        torch.manual_seed(0)\n        seeded", "        seeded")],
        "the reader does not leak": [("leaky.p = 0.5", "leaky.p = 0.0")],
        "the control leaks": [("leaky.p = 0.0", "leaky.p = 0.5")],
        "no module has a mode of its own": [("block[1].eval()", "pass")],
        "the batches' means are equal": [("torch.tensor([1.0, 1.0, 1.0, 1.0, 6.0])", "torch.ones(5)")],
    },
}
