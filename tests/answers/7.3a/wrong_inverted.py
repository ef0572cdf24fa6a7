"""The flag the wrong way round."""

import torch
import torch.nn.functional as F
from torch import nn


class Reader(nn.Module):
    def __init__(self, width, p):
        super().__init__()
        self.p = p
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width, bias=False)

    def forward(self, x):
        q, k, v = self.qkv(x).chunk(3, dim=-1)

        mixed = F.scaled_dot_product_attention(q, k, v, dropout_p=0.0 if self.training else self.p)
        return F.dropout(self.out(mixed), self.p, training=not self.training)
