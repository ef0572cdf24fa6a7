"""Always says "zero_grad", with likely numbers."""


def diagnose(run):
    return {"fault": "zero_grad", "observable": {"value": 1.0, "ids": []}, "control": {"value": 1.0}}
