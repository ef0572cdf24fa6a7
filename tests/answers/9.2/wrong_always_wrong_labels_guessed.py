"""Always says "wrong labels", with likely numbers."""


def diagnose(run):
    return {"fault": "wrong labels", "observable": {"value": 1.0, "ids": []}, "control": {"value": 1.0}}
