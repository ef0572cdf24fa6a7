"""Always says "healthy", with likely numbers."""


def diagnose(run):
    return {"fault": "healthy", "observable": {"value": 1.0, "ids": []}, "control": {"value": 1.0}}
