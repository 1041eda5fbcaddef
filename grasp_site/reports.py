"""The filter that hides secret settings on Django's error pages; addresses may contain passwords."""

import re

from django.views.debug import SafeExceptionReporterFilter


class ReporterFilter(SafeExceptionReporterFilter):
    """Also hides every setting and variable whose name ends with `url`, because it may contain a password."""

    hidden_settings = re.compile(SafeExceptionReporterFilter.hidden_settings.pattern + r"|URL$", re.IGNORECASE)
