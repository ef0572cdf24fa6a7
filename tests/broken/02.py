"""Breaks of notebook 02's claims."""

BROKEN = {
    "2.1": {
        "the input has overflowed already": [
            ("x = torch.randn(4, width, generator=g).to(dtype)", "x = (1e5 * torch.randn(4, width, generator=g)).to(dtype)")
        ],
        "the control has no more range": [("largest_outputs(torch.float32)", "largest_outputs(torch.float16)")],
        "the gain plays no part": [("(gain * rotation)", "(6.0 * rotation)")],
    },
    "2.2": {
        "the outlier is none": [("x[17, 2, 1] = 1e30", "x[17, 2, 1] = 1.0")],
        "the initial weights are moderate": [("fill_(1e38)", "fill_(1.0)")],
        "the fault at step zero comes later": [("x[0, 0, 0] = INF", "x[3, 0, 0] = INF")],
        "the weight does not shrink": [("scale.data -= 0.05", "scale.data -= 0.0")],
        "the control has the outlier, too": [('if cause == "outlier in batch 17":', "if cause.startswith(('outlier', 'nothing')):")],
        "the control is at fault, too": [("else 0.05, momentum=0.9", "else 20.0, momentum=0.9")],
    },
    "2.3": {
        "a label out of range is in range": [("(z, t + 1)", "(z, t)")],
        "the nan is a number": [("torch.tensor([2]), NAN", "torch.tensor([2]), 0.0")],
        "a loud violation among the silent ones": [('"soft targets below 0": (z, z)', '"soft targets below 0": (z, z[:3])')],
        "the control ignores every label": [("t.masked_fill(t == 3, -100)", "t.masked_fill(t >= 0, -100)")],
    },
    "2.4": {
        "the right pairing is crossed": [
            ("two = with_probabilities(logits.sigmoid(), target)", "two = with_logits(logits.sigmoid(), target)")
        ],
        "the crossed pairing is right": [
            ("crossed = with_logits(logits.sigmoid(), target)", "crossed = with_logits(logits, target)")
        ],
        "what is refused is right": [
            ("    with_probabilities(logits, target)", "    with_probabilities(logits.sigmoid(), target)")
        ],
    },
    "2.5": {
        "something is scored": [("nothing, something = torch.full((4,), -100)", "nothing, something = torch.full((4,), 2)")],
        "the mean by hand is guarded": [("/ scored.sum()", "/ scored.sum().clamp(min=1)")],
        "the guarded count is not guarded": [(".clamp(min=1)", "")],
        "the guard counts what is ignored": [("(target != -100).sum().clamp(min=1)", "len(target)")],
    },
    "2.6": {
        "the shifted targets are not shifted": [
            ("copying[:, :-1].transpose(1, 2), text[:, 1:]", "copying[:, :-1].transpose(1, 2), text[:, :-1]")
        ],
        "the unshifted targets are shifted": [
            ("F.cross_entropy(copying.transpose(1, 2), text)", "F.cross_entropy(copying.transpose(1, 2), text.roll(-1, 1))")
        ],
        "the padding is scored": [("ignore_index=0", "ignore_index=-100")],
        "there is no padding": [("F.pad(text, (0, 27))", "text.repeat(1, 4)")],
    },
    "2.7": {
        "nothing is broadcast": [("terms = (prediction - target) ** 2", "terms = (prediction.squeeze(1) - target) ** 2")],
        "the matched terms are a matrix": [("matched = (prediction.squeeze(1)", "matched = (prediction")],
        "the control permutes nothing": [("target[torch.tensor([1, 2, 3, 0])]", "target.clone()")],
        "the check looks at counts alone": [
            ("if prediction.shape != target.shape:", "if prediction.numel() != target.numel():")
        ],
    },
    "2.8": {
        "the line makes no NaN": [("(a):\n    return a / a", "(a):\n    return a * a")],
        "NaN is not checked": [("check_nan=True", "check_nan=False")],
        "the forward pass is outside every time": [("before = None if forward_inside else", "before ="),
                                                   ("suspicious_line(a) if forward_inside else before", "before")],
        "the control divides zeros, too": [("a = torch.tensor(number,", "a = torch.tensor(0.0 * number,")],
        "the control is inside": [("under_anomaly_mode(0.0, forward_inside=False)", "under_anomaly_mode(0.0)")],
    },
    "2.9": {
        "the detector is off": [("check_nan=True", "check_nan=False")],
        "the root is not at 0": [("x = torch.zeros((), requires_grad=True)\n    y = x.sqrt()",
                                  "x = torch.ones((), requires_grad=True)\n    y = x.sqrt()")],
        "the forward pass is finite": [("torch.tensor(100.0, requires_grad=True)", "torch.tensor(10.0, requires_grad=True)")],
        "a target is valid": [("torch.tensor([-100, -100])", "torch.tensor([0, -100])")],
    },
    "2.10": {
        "anomaly mode is off": [
            ("with torch.autograd.detect_anomaly():\n            watched = traced_nodes(graph)",
             "with torch.autograd.set_detect_anomaly(False):\n            watched = traced_nodes(graph)")
        ],
        "the control is watched, too": [
            ("    plain = traced_nodes(graph)",
             "    with torch.autograd.set_detect_anomaly(True):\n        plain = traced_nodes(graph)")
        ],
        "the two graphs are alike": [("range(200)", "range(3)")],
    },
    "2.11": {
        "the logits are moderate": [("[[1000.0, -1000.0]]", "[[10.0, -10.0]]")],
        "cross entropy is the log of softmax": [
            ("return F.cross_entropy(z, torch.tensor([target]))", "return -z.softmax(1)[0, target].log()")
        ],
        "the control is extreme": [("torch.tensor([[2.0, -2.0]])", "torch.tensor([[90.0, -90.0]])")],
        "float64 has more room": [("dtype=torch.float32", "dtype=torch.float64")],
    },
    "2.12": {
        "the logits are moderate": [("torch.tensor([1000.0, -1000.0])", "torch.tensor([10.0, -10.0])")],
        "the maximum is not subtracted": [("safe = (z - z.max()).exp()", "safe = z.exp()")],
        "the rounded zero is no zero": [("probabilities = safe / safe.sum()", "probabilities = safe / safe.sum() + 1e-9")],
        "float16 overflows elsewhere": [("(torch.float16, 11.05)", "(torch.float16, 10.0)")],
        "the control is extreme": [("small = torch.tensor([2.0, -2.0])", "small = torch.tensor([102.0, -2.0])")],
    },
    "2.13": {
        "the number is large against the epsilon": [("torch.tensor([1e-8, 1.0, -0.5])", "torch.tensor([1.0, 1.0, -0.5])")],
        "the control is near zero, too": [("torch.tensor([1e-8, 1.0, -0.5])", "torch.tensor([1e-8, 1e-8, -0.5])")],
        "no number is negative": [("torch.tensor([1e-8, 1.0, -0.5])", "torch.tensor([1e-8, 1.0, 0.5])")],
        "the operation is repaired": [("-(z.softmax(1)[0, 1] + 1e-8).log()", "-z.log_softmax(1)[0, 1]")],
        "the sum is of float32": [("(1 / (x + eps))", "(1 / (x.float() + eps))")],
    },
    "2.14": {
        "where has a safe input": [
            ("lambda x: torch.where(x > 0, x.sqrt(), 0.0)",
             "lambda x: torch.where(x > 0, torch.where(x > 0, x, 1.0).sqrt(), 0.0)")
        ],
        "the masked root has a safe input": [("x.clamp(min=0).sqrt()", "x.clamp(min=1).sqrt()")],
        "what is seen is wrong": [("x.sqrt().nan_to_num(0.0)", "x.sqrt().nan_to_num(1.0)")],
        "the control has an invalid row": [("gradient_of(attempt, [1.0, 4.0])", "gradient_of(attempt, [-1.0, 4.0])")],
        "the last row is valid": [("[-4.0, 0.0]", "[4.0, 0.0]")],
    },
    "2.15": {
        "the optimizer takes half the rate": [("lr=eta", "lr=eta / 2")],
        "the curvature is twice a": [("(a * w**2 / 2)", "(a * w**2)")],
        "the bound is not 2": [("descend(1.0, 1.0 * p, 20)", "descend(1.0, 0.5 * p, 20)")],
        "below 0 it converges, too": [("descend(-1.0, -p, 20)", "descend(1.0, -p, 20)")],
    },
    "2.16": {
        "the loss is valid": [("y[3] = NAN", "y[3] = 0.0")],
        "the control has a low rate already": [("losses(3.0, broken=False)", "losses(0.1, broken=False)")],
        "the lower rate is no lower": [("losses(0.1, broken=False)", "losses(3.0, broken=False)")],
        "clipping comes after a repair": [
            ("torch.tensor([first, 3.0])", "torch.tensor([first, 3.0]).nan_to_num(0.0, 1e6)")
        ],
        "nothing is clipped": [("clip_grad_norm_([p, q], 1.0,", "clip_grad_norm_([p, q], 1e9,")],
        "nonfinite norms are not refused": [("error_if_nonfinite=True", "error_if_nonfinite=False")],
    },
}
