"""nbgrader on this course's folders; its commands run in this folder as they are."""

from pathlib import Path

c = get_config()  # noqa: F821 (nbgrader hands it in)
root = Path(__file__).resolve().parent

c.CourseDirectory.course_id = "debugging-training"
c.CourseDirectory.source_directory = "solutions"
c.CourseDirectory.release_directory = "notebooks"
c.CourseDirectory.submitted_directory = "grading/submitted"
c.CourseDirectory.autograded_directory = "grading/autograded"
c.CourseDirectory.feedback_directory = "grading/feedback"
c.CourseDirectory.db_url = f"sqlite:///{root}/grading/gradebook.db"
