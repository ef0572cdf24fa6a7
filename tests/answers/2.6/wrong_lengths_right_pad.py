"""Mistake: counts the real tokens and assumes that they stand at the start."""

import torch


def next_token(tokens, real):
    scored = torch.arange(1, tokens.shape[1]) < real.sum(1, keepdim=True)
    targets = torch.where(scored, tokens[:, 1:], -100)
    return tokens[:, :-1], targets, scored
