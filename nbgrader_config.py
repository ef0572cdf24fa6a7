"""nbgrader on this course's folders, with our judge in the place of its kernel.

nbgrader's commands run in this folder as they are; only its public trait lists are used.
"""

import os
from pathlib import Path

from nbconvert.preprocessors import ClearMetadataPreprocessor
from nbgrader.preprocessors import (
    AssignLatePenalties,
    CheckCellMetadata,
    ClearOutput,
    DeduplicateIds,
    IgnorePattern,
    LimitOutput,
    OverwriteCells,
    OverwriteKernelspec,
    SaveAutoGrades,
)

from autograder.nbgrader_plugin import Judge, RecordOutcomes, Restore

c = get_config()  # noqa: F821 (nbgrader hands it in)
root = Path(__file__).resolve().parent
(root / "grading").mkdir(exist_ok=True)  # sqlite makes the file, not its folder

c.CourseDirectory.root = str(root)
c.CourseDirectory.course_id = "debugging-training"
c.CourseDirectory.source_directory = "solutions"
c.CourseDirectory.release_directory = "notebooks"
c.CourseDirectory.submitted_directory = "grading/submitted"
c.CourseDirectory.autograded_directory = "grading/autograded"
c.CourseDirectory.feedback_directory = "grading/feedback"
# Another database, named in the environment: postgresql+psycopg://NAME@HOST/DATABASE, password in ~/.pgpass.
c.CourseDirectory.db_url = os.environ.get("AUTOGRADER_GRADEBOOK_URL") or f"sqlite:///{root}/grading/gradebook.db"

# A submission takes the shape of its source before nbgrader reads it.
c.OverwriteCells.add_missing_cells = True
c.Autograde.sanitize_preprocessors = [
    Restore,
    ClearOutput,
    DeduplicateIds,
    OverwriteKernelspec,
    OverwriteCells,
    CheckCellMetadata,
]
# nbgrader's own list with Judge where Execute was, and the outcomes written after the scores.
c.Autograde.autograde_preprocessors = [
    Judge,
    IgnorePattern,
    ClearMetadataPreprocessor,
    LimitOutput,
    SaveAutoGrades,
    RecordOutcomes,
    AssignLatePenalties,
    CheckCellMetadata,
]
# Pages that run no script and send no request, whatever a student wrote.
c.GenerateFeedback.exporter_class = "autograder.grading.feedback.InertPage"
