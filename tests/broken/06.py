"""Breaks of notebook 06's claims."""

BROKEN = {
    "6.1": {
        "inputs and targets move together": [
            ('inputs, targets = load("shuffled separately")', 'inputs, targets = load("shuffled together")')
        ],
        "the control moves them apart": [
            ('inputs, targets = load("shuffled together")', 'inputs, targets = load("shuffled separately")')
        ],
        "the mirror leaves the label": [
            ('"target": {"left": "right", "right": "left"}[row["target"]]', '"target": row["target"]')
        ],
        "the control is mirrored, too": [("if k % 2 else row", "if True else row")],
        "nothing is dropped": [('max(row["x"]) > 0.2', 'max(row["x"]) > 0.1')],
    },
    "6.2": {
        "the transform does nothing": [("after = TRANSFORMS[name](before)", "after = before")],
        "another transform": [('("6", "half turn", "9")', '("6", "mirror", "9")')],
        "a summary sees it": [("after = TRANSFORMS[name](before)", "after = F.pad(TRANSFORMS[name](before), (0, 1))")],
        "the pixels are moved, not mixed": [("picture.reshape(3, 4, 6)", "picture.permute(2, 0, 1)")],
        "the control mixes the pixels": [("picture.permute(2, 0, 1)", "picture.reshape(3, 4, 6)")],
        "the integers have room": [("torch.tensor([10, 100], dtype=torch.uint8)", "torch.tensor([10, 100], dtype=torch.int32)")],
    },
    "6.3": {
        "the targets are not shifted": [("batch[:, :-1], batch[:, 1:]", "batch[:, :-1], batch[:, :-1]")],
        "the padding is scored": [("mask = targets != PAD", "mask = targets >= PAD")],
        "no end mark is encoded": [("for word in sentence.split()), EOS]", "for word in sentence.split())]")],
        "the unshifted batch is shifted": [("(inputs, inputs, inputs != PAD)", "(inputs, targets, mask)")],
        "the end mark is scored": [("mask & (targets != EOS)", "mask")],
        "no padding is scored where it should be": [("torch.ones_like(mask)", "mask")],
        "the copying model looks ahead": [("F.one_hot(inputs, len(WORDS))", "F.one_hot(targets, len(WORDS))")],
    },
    "6.4": {
        "missing values look possible": [("nan_to_num(nan=-1.0)", "nan_to_num(nan=170.0)")],
        "one unit": [("/= 100", "/= 1")],
        "the codes are fitted once": [('dict(zip(["Lima", "Osaka"], range(2)))', "dict(zip(CITIES, range(3)))")],
        "the scaler sees the training rows": [
            ('known = table["height"][~table["height"].isnan()]\n    table["mean"]',
             'known = table["height"][table["train"] & ~table["height"].isnan()]\n    table["mean"]')
        ],
        "validation comes from the same place": [("heights[~train] += 6", "heights[~train] += 0")],
        "the clean table is not": [("heights = 170 + 8 *", "heights = 17 + 8 *")],
    },
    "6.5": {
        "the label can be learned": [("by_row, by_person = curves()", "by_row, by_person = curves(shared=True)")],
        "no row has a relative": [("by_row, by_person = curves()", "by_row, by_person = curves(rows_each=1)")],
        "the control's label can't be learned": [("by_row, by_person = curves(shared=True)", "by_row, by_person = curves()")],
    },
    "6.6": {
        "the rule can fire": [("all(ids.count(i) for i in ids)", "all(ids.count(i) == 1 for i in ids)")],
        "the negative example is none": [('["a1", "a2", "a1"]', '["a1", "a2", "a4"]')],
        "the healthy batch is not": [('["a1", "a2", "a3"]', '["a1", "a2", "a2"]')],
    },
}
