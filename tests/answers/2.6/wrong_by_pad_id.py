"""Mistake: takes every occurrence of the last row's final id for padding."""

import torch


def next_token(tokens, real):
    scored = (tokens[:, 1:] != 0) & (tokens[:, :-1] != 0)
    targets = torch.where(scored, tokens[:, 1:], -100)
    return tokens[:, :-1], targets, scored
