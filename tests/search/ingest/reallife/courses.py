"""A school: a many-to-many table without an id of its own, one of courses to courses, references to persons."""

from tests.search.ingest.reallife.expected import Expected, Folder, table

FIRST, LAST = ["Mia", "Noah", "Lea", "Finn", "Ella", "Paul"], ["Roth", "Vogt", "Lang", "Beck", "Kuhn", "Senn"]
STUDENTS = [
    [
        str(number + 1),
        f"{FIRST[number % 6]} {LAST[number // 6]}",
        str(2004 + number % 4),
    ]
    for number in range(36)
]
TEACHERS = [
    ["1", "Dr. Helen Marsh", "Science"],
    ["2", "Omar Haddad", "Arts"],
    ["3", "Ruth Ekberg", "Science"],
    ["4", "Tom Liu", "Languages"],
]
COURSES = [
    ["1", "Algebra I", "1", "5"],
    ["2", "Algebra II", "1", "5"],
    ["3", "Physics", "3", "6"],
    ["4", "Chemistry", "3", "6"],
    ["5", "Drawing", "2", "2"],
    ["6", "Music", "2", "2"],
    ["7", "French", "4", "4"],
    ["8", "Latin", "4", "3"],
    ["9", "Statistics", "1", "4"],
    ["10", "Astronomy", "3", "3"],
]
ENROLMENTS = [
    [
        str(number % 36 + 1),
        str((number * 7 + number // 36) % 10 + 1),
        ["2024S", "2024W"][number % 2],
        f"{1 + number % 13 / 4:.2f}",
    ]
    for number in range(108)
]
NEEDS = [["2", "1"], ["3", "1"], ["9", "2"], ["10", "3"], ["4", "3"]]

FOLDER = Folder(
    files={
        "students.csv": table([["id", "name", "birth_year"], *STUDENTS]),
        "teachers.csv": table([["id", "full_name", "department"], *TEACHERS]),
        "courses.csv": table([["id", "title", "teacher_id", "credits"], *COURSES]),
        "enrolments.csv": table([["student_id", "course_id", "term", "grade"], *ENROLMENTS]),
        "prerequisites.csv": table([["course_id", "required_course_id"], *NEEDS]),
    },
    expected=Expected(
        types={"student": 36, "teacher": 4, "course": 10},
        relations={("student", "course"): 108, ("course", "course"): 5, ("course", "teacher"): 10},
        values={
            ("course", "Physics", "credits"): 6,
            ("student", "Noah Roth", "birth_year"): 2005,
            ("teacher", "Tom Liu", "department"): "Languages",
        },
        may_be_nodes=("department",),
    ),
)
