"""Attention written out with nn.Dropout modules on weights and output."""

import torch
import torch.nn.functional as F
from torch import nn


class Reader(nn.Module):
    def __init__(self, width, p):
        super().__init__()
        self.p = p
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width, bias=False)
        self.weight_drop = nn.Dropout(p)
        self.out_drop = nn.Dropout(p)

    def forward(self, x):
        q, k, v = self.qkv(x).chunk(3, dim=-1)

        scores = q @ k.mT * q.shape[-1] ** -0.5
        weights = self.weight_drop(scores.softmax(dim=-1))
        return self.out_drop(self.out(weights @ v))
