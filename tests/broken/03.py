"""Breaks of notebook 03's claims."""

BROKEN = {
    "3.1": {
        "the logits are not zero": [("torch.zeros(12, C)", "torch.eye(12, C)")],
        "the softmax is over the classes": [("log_softmax(dim=0)", "log_softmax(dim=1)")],
        "the sum is a mean": [('reduction="sum"', 'reduction="mean"')],
        "the logarithm is natural": [("/ math.log(2)", "/ 1")],
        "the confident logits are zero": [("20.0 * F.one_hot(targets, C)", "0.0 * F.one_hot(targets, C)")],
        "the confident logits are wrong": [("20.0 * F.one_hot(targets, C)", "20.0 * F.one_hot((targets + 1) % C, C)")],
    },
    "3.2": {
        "the scale does not reach the features": [("return scale * (", "return (")],
        "the bias prefers a class": [("nn.init.zeros_(layer.bias)", "nn.init.normal_(layer.bias, std=3)")],
        "a start elsewhere does not train": [("steps=200", "steps=2")],
        "the start is not sure": [("layer.weight.mul_(scale)", "layer.weight.mul_(1.0)")],
        "the largest probability is that of a uniform row": [
            ("logits.softmax(1).amax(1).mean().item()", "logits.softmax(1).mean(1).mean().item()")
        ],
        "the control is not uniform": [("zeros.softmax(1)", "sure.softmax(1)")],
    },
    "3.3": {
        "the plain tensor is a parameter": [
            ("value = model[2].weight.detach().clone().requires_grad_()", "value = nn.Parameter(model[2].weight.detach())")
        ],
        "the frozen trunk is not": [("model[0].requires_grad_(False)", "pass")],
        "nothing is dead before the decay": [('startswith("dead ReLU")', 'startswith("dead ReLU,")')],
        "the head is replaced in time": [("        model[4] = nn.Linear(8, 3)", "        pass")],
        "the dead ReLU is alive": [("-100.0", "0.0")],
        "nothing decays": [("decay = 0.1 if", "decay = 0.0 if")],
        "the healthy network has no rate": [("lr=0.5, weight_decay=decay", "lr=0.0, weight_decay=decay")],
        "the pairs stay together": [("two = one if together else torch.randperm(24)", "two = one")],
        "the control is torn, too": [("two = one if together else torch.randperm(24)", "two = torch.randperm(24)")],
    },
    "3.4": {
        "the trunk is not frozen": [("nn.Linear(4, 6).requires_grad_(False)", "nn.Linear(4, 6)")],
        "both branches are used": [
            ("F.cross_entropy(head(trunk(x).relu()), y)", "F.cross_entropy((left(trunk(x)) + right(trunk(x))).relu(), y)")
        ],
        "the weights do not follow the unit": [("mul_(0.01 * unit)", "mul_(0.01)")],
        "the unit is the same": [("gradient_in(1000), gradient_in(1, dead=True)", "gradient_in(1), gradient_in(1, dead=True)")],
        "the dead layer is alive": [("fill_(-1000.0)", "fill_(0.0)")],
        "Adam has no past": [
            ('"Adam with a past, gradient 0": movement(torch.optim.Adam, 3, zero)',
             '"Adam with a past, gradient 0": movement(torch.optim.Adam, 0, zero)')
        ],
        "the fresh Adam is not": [('movement(torch.optim.Adam, 0, zero)', 'movement(torch.optim.Adam, 1, zero)')],
        "None is a zero": [("movement(torch.optim.Adam, 3, None)", "movement(torch.optim.Adam, 3, zero)")],
        "batch norm keeps its statistics": [("nn.BatchNorm1d(8)", "nn.BatchNorm1d(8, momentum=0.0)")],
        "the control is in train mode": [("model.train(training)", "model.train(True)")],
    },
    "3.5": {
        "the list registers": [("one_step(list), one_step(nn.ModuleList)", "one_step(nn.ModuleList), one_step(nn.ModuleList)")],
        "the control does not register": [("one_step(list), one_step(nn.ModuleList)", "one_step(list), one_step(list)")],
        "the optimizer has a rate of zero": [("lr=0.5", "lr=0.0")],
    },
    "3.6": {
        "the optimizer holds p": [("SGD([held], lr=0.1)", "SGD([p], lr=0.1)")],
        "the control holds another parameter": [("SGD([held], lr=0.1)", "SGD([q], lr=0.1)")],
        "the loss is another": [("(p * p).backward()", "(p * p * p).backward()")],
    },
    "3.7": {
        "the optimizer takes half the rate": [("lr=rate", "lr=rate / 2")],
        "the recurrence has the wrong sign": [("(1 - rate * a)", "(1 + rate * a)")],
        "seven steps": [("steps=8", "steps=7")],
    },
    "3.8": {
        "nothing accumulates": [("        if zeroed:", "        if True:")],
        "the control does not zero": [("        if zeroed:", "        if False:")],
    },
    "3.9": {
        "the rate is not zero": [('rate = 0.0 if fault == "zero rate" else 1e-4', "rate = 1e-4")],
        "the optimizer holds this instance": [('[twin if fault == "another instance" else p]', "[p]")],
        "nothing stale is loaded": [("p.copy_(checkpoint)", "pass")],
        "the dtype is fine enough": [('torch.bfloat16 if fault == "underflow" else torch.float32', "torch.float32")],
        "no step is left out": [('if fault != "omitted step":', "if True:")],
        "the healthy run has no rate": [("else 1e-4", "else 0.0")],
        "one observable fewer": [("len(optimizer.state) > 0", "True")],
        "the update is larger than the spacing": [("update, spacing = 1e-4 * 2.0", "update, spacing = 1e-2 * 2.0")],
    },
    "3.10": {
        "the layers are registered": [
            ("self.layers = [nn.Linear(4, 16), nn.Linear(16, 2)]", "self.layers = nn.ModuleList([nn.Linear(4, 16)])")
        ],
        "ten parameters are too few": [("+ 3.0 * (2 * y[:, None] - 1)", "+ 0.0 * (2 * y[:, None] - 1)")],
        "the control is trained": [("p.requires_grad = False", "p.requires_grad = True"), ("[bystander], lr", "large.parameters(), lr")],
    },
    "3.11": {
        "the healthy pipeline sees structure": [
            ('"healthy, one feature each": (5 * torch.eye(30), False)', '"healthy, one feature each": (structured, False)')
        ],
        "there is no structure": [("structured = centers[labels] +", "structured = 0 * centers[labels] +")],
        "shuffled labels are not shuffled": [("y[torch.randperm(len(y), generator=g)]", "y")],
    },
}
