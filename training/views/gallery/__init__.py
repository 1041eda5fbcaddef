"""States of the pages of annotation and evaluation for the gallery of components."""

from collections.abc import Mapping

from training.views.gallery import annotation, evaluation, judging

COMPONENTS: Mapping[str, Mapping[str, annotation.Page]] = {
    "annotate": annotation.QUEUES,
    "judging": judging.JUDGING,
    "guideline": annotation.GUIDELINES,
    "agreement": annotation.AGREEMENT,
    "disagreements": annotation.ITEMS,
    "corrections": annotation.CORRECTIONS,
    "evaluations": evaluation.EVALUATIONS,
    "report": evaluation.REPORTS,
    "questions": evaluation.QUESTIONS,
}
