"""Takes the gradient switch for the mode."""

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

        on = torch.is_grad_enabled()
        mixed = F.scaled_dot_product_attention(q, k, v, dropout_p=self.p if on else 0.0)
        return F.dropout(self.out(mixed), self.p, training=on)
