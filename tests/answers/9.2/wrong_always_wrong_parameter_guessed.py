"""Always says "wrong parameter", with likely numbers."""


def diagnose(run):
    return {"fault": "wrong parameter", "observable": {"value": 1.0, "ids": []}, "control": {"value": 1.0}}
