"""Breaks of notebook 08's claims."""

BROKEN = {
    "8.2": {
        "what is stored is no loss": [('"loss": lambda loss: loss,', '"loss": lambda loss: loss.item(),')],
        "item() stores the loss": [("lambda loss: loss.item()", "lambda loss: loss")],
        "detach() stores the loss": [("lambda loss: loss.detach(),", "lambda loss: loss,")],
        "the intermediate is stored besides": [("kept.append(keep(loss))", "kept.append(keep(loss))\n        hidden.append(lambda h=h: h)")],
        "the clone shares its memory": [("loss.detach(), loss.detach().clone()", "loss.detach(), loss.detach()")],
        "detach() copies": [("loss.detach(), loss.detach().clone()", "loss.detach().clone(), loss.detach().clone()")],
        "the total holds no graph": [("total = total + add(loss)", "total = float(total) + float(add(loss))")],
    },
    "8.3": {
        "the optimizer is no Adam": [("adam = state_sizes(torch.optim.Adam)", "adam = state_sizes(torch.optim.Adagrad)")],
        "no step was made": [("        optimizer.step()", "        pass")],
        "one of the tensors is left out": [("make(model.parameters())", "make(model[0].parameters())")],
        "the state is in half precision": [
            ("    size = sum(", "    for state in optimizer.state.values():\n"
             "        state.update({k: v.half() for k, v in state.items() if torch.is_tensor(v)})\n    size = sum(")
        ],
    },
    "8.4": {
        "the variable is not set": [('start(LOGGED, "variable", TORCH_LOGS="recompiles")', 'start(LOGGED, "variable")')],
        "the control is set before Python starts": [
            ('start(LOGGED, "late")', 'start(LOGGED, "late", TORCH_LOGS="recompiles")')
        ],
        "the empty variable is unset": [(", TORCH_LOGS=\"\"))", "))")],
    },
    "8.5": {
        "the control breaks, too": [("explain(selecting)", "explain(branching)")],
        "nothing is planted": [("explain(branching)", "explain(selecting)"), IndexError],
        "mended means other values": [("selecting.load_state_dict(branching.state_dict())", "pass")],
        "export does not refuse": [
            ("torch.export.export(module, (example,))", "torch.export.export(selecting, (example,))")
        ],
        "the exported program has other weights": [
            ("torch.export.export(module, (example,))", "torch.export.export(type(module)(), (example,))")
        ],
    },
    "8.6": {
        "the shape is the same, the dtype another": [("(torch.ones(3), 2)]", "(torch.ones(2).double(), 2)]")],
        "the value is the same, the shape another": [("(torch.ones(2), 3)]", "(torch.ones(3), 2)]")],
        "nothing changes": [("(torch.ones(2).double(), 2)]", "(torch.ones(2), 2)]"), IndexError],
        "the control's lengths are one": [("for n in (4, 5, 6)]", "for n in (4, 4, 4)]")],
        "dynamic shapes are off": [("backend=backend, **options)", "backend=backend, dynamic=False)")],
    },
    "8.7": {
        "the input of the root is safe": [
            ("return torch.where(x > 0, x.sqrt(), 0.0).sum()",
             "return torch.where(x > 0, torch.where(x > 0, x, 1.0).sqrt(), 0.0).sum()")
        ],
        "the control's input is not": [("torch.where(positive, x, 1.0)", "x")],
        "only the chosen rows are evaluated": [
            ("return torch.where(x > 0, x.sqrt(), 0.0).sum()", "return (x.clamp(min=0) ** 2).sum() / 8")
        ],
    },
    "8.8": {
        "the schedule records one step": [('trace["traceEvents"]', 'record_trace(steps=3)[0]["traceEvents"]')],
        "the linear operator never ran, a convolution did": [
            ('events = trace["traceEvents"]',
             "def train_step():\n    F.conv2d(torch.ones(1, 1, 3, 3), torch.ones(1, 1, 1, 1))\n\n\n"
             'events = record_trace()[0]["traceEvents"]')
        ],
        "the control ran, too": [
            ('operators = {e["name"]', 'events.append({"name": "aten::conv2d", "cat": "cpu_op"})\noperators = {e["name"]')
        ],
    },
    "8.9": {
        "the wrapper does the work itself": [('table["aten::linear"], table["aten::addmm"]', 'table["aten::addmm"], table["aten::addmm"]')],
        "the operator inside is the wrapper": [('table["aten::linear"], table["aten::addmm"]', 'table["aten::linear"], table["ProfilerStep*"]')],
        "less is planted": [("torch.zeros(512, 512)", "torch.zeros(512, 256)")],
        "the control asks for memory, too": [("        planted.t()", "        copy_of_it = planted.t().contiguous()")],
    },
    "8.11": {
        "the ranks agree": [
            ("reports = run_ranks()",
             'RANKS = RANKS.replace("dist.all_reduce(x) if rank == 0 else dist.broadcast(x, 0)", "dist.all_reduce(x)")\n'
             "reports = run_ranks()")
        ],
        "nobody asks for DETAIL": [
            ("reports = run_ranks()",
             """RANKS = RANKS.replace('["TORCH_DISTRIBUTED_DEBUG"] = level', '["TORCH_DISTRIBUTED_DEBUG"] = "OFF"')\n"""
             "reports = run_ranks()")
        ],
        "the control disagrees": [
            ("reports = run_ranks()",
             'RANKS = RANKS.replace("    dist.all_reduce(x)\\n    report", "    dist.all_reduce(rank * x)\\n    report")\n'
             "reports = run_ranks()")
        ],
        "the recorder is read one collective too early": [('lasts = [r["recorded"][-1]', 'lasts = [r["recorded"][-2]')],
    },
}
