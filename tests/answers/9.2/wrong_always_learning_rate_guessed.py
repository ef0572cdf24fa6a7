"""Always says "learning rate", with likely numbers."""


def diagnose(run):
    return {"fault": "learning rate", "observable": {"value": 1.0, "ids": []}, "control": {"value": 1.0}}
