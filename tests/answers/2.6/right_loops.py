"""Style: nested Python loops over lists."""

import torch


def next_token(tokens, real):
    b, t = tokens.shape
    inputs = torch.zeros(b, t - 1, dtype=torch.int64)
    targets = torch.full((b, t - 1), -100)
    scored = torch.zeros(b, t - 1, dtype=torch.bool)
    for i in range(b):
        for j in range(t - 1):
            inputs[i, j] = tokens[i, j]
            if real[i, j] and real[i, j + 1]:
                targets[i, j] = tokens[i, j + 1]
                scored[i, j] = True
    return inputs, targets, scored
