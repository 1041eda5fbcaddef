from django.apps import AppConfig


class TrainingConfig(AppConfig):
    """Improves the answers, from judged questions and recorded searches."""

    name = "training"
    default_auto_field = "django.db.models.BigAutoField"
