"""Breaks of notebook 05's claims."""

BROKEN = {
    "5.1": {
        "the spread parts them": [("half_dead = healthy * math.sqrt(2)", "half_dead = healthy * 3")],
        "nothing is dead": [("half_dead = healthy * math.sqrt(2)\nhalf_dead[::2] = 0", "half_dead = healthy * 1")],
        "the NaN is a number": [("one_nan[0] = math.nan", "one_nan[0] = 0.5")],
        "the frozen tensor moves": [("(frozen, frozen.clone())", "(frozen, frozen * 1.001)")],
        "the integers have room": [("torch.tensor([10, 200], dtype=torch.uint8)", "torch.tensor([10, 200], dtype=torch.int64)")],
        "the squares have room": [("torch.full((4,), 1e30)", "torch.full((4,), 1e3)")],
        "the transposed tensor is contiguous": [(".t().view(-1)", ".t().contiguous().view(-1)")],
    },
    "5.2": {
        "the network learned nothing": [("train_token_model()", "train_token_model(steps=1)")],
        "no ReLU leaves its mark": [("head[1](head[0](embedding.weight))", "head[0](embedding.weight)")],
        "every row moved as far": [("moved = (embedding", "moved = torch.ones(200) + 0 * (embedding")],
        "the control is not normal": [
            ("torch.randn(1024, generator=torch.Generator().manual_seed(52))",
             "torch.randn(1024, generator=torch.Generator().manual_seed(52)).exp()")
        ],
    },
    "5.3": {
        "the inactive branch is active": [("{cause: spike(cause) for", '{cause: spike(cause, "raise the biases") for')],
        "the converged run has work left": [("{cause: spike(cause) for", '{cause: spike(cause, "swap the labels") for')],
        "the masked batch is unmasked": [("{cause: spike(cause) for", '{cause: spike(cause, "unmask") for')],
        "the three causes are one": [("{cause: spike(cause) for", '{cause: spike("masked") for')],
        "the interventions change nothing": [('bool(spike(cause, change)["gradient"].any())', 'bool(spike(cause)["gradient"].any())')],
    },
    "5.4": {
        "nothing slipped": [("in drifts.items()}", 'in zip(drifts, [drifts["calm", layer] for _, layer in drifts])}')],
        "the slip is everywhere": [("in drifts.items()}", 'in zip(drifts, [drifts["slip", 2] for _ in drifts])}')],
        "the limit is too low": [("if d > LIMIT]", "if d > LIMIT / 20]")],
        "the control compares a layer with itself": [('[79][layer][0].std().item() for', '[79][2][0].std().item() for')],
        "the entries keep their places": [("trained.flatten()[order]", "trained.flatten()")],
        "the entries are others": [("trained.flatten()[order]", "(2 * trained.flatten()[order])")],
    },
    "5.5": {
        "the weights are written for gradients": [("p.grad.detach(), step)", "p.detach(), step)")],
        "nothing is zeroed": [("        net.zero_grad()", "        pass")],
        "zeroing comes before writing": [("        for name, p in net.named_parameters():",
                                          "        net.zero_grad(set_to_none=False)\n        for name, p in net.named_parameters():")],
        "the control is zeroed": [("    net(batches[0]).square()", "    net.zero_grad()\n    net(batches[0]).square()")],
        "both batches are one": [("enumerate(batches)", "enumerate([batches[0]] * 2)")],
        "the NaN is a number": [("values[3] = math.nan", "values[3] = 0.0")],
        "not all are NaN": [("torch.full((10,), math.nan)", "torch.full((10,), 1.0)")],
    },
    "5.6": {
        "the careless monitor cleans up": [
            ("    model(x)\n    for handle in handles:\n        handle.remove()",
             "    try:\n        model(x)\n    finally:\n        for handle in handles:\n            handle.remove()")
        ],
        "no forward fails": [("torch.randn(8, 15)", "torch.randn(8, 16)")],
        "the control does not clean up": [("    for handle in handles:\n        handle.remove()", "    pass")],
        "the control keeps its hooks": [("m._forward_hooks.clear()", "pass")],
        "nothing is sampled": [("if step % every == 0 else []", "if True else []")],
    },
}
