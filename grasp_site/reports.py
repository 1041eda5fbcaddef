"""What the pages of errors leave out: addresses hold passwords, too."""

import re

from django.views.debug import SafeExceptionReporterFilter


class ReporterFilter(SafeExceptionReporterFilter):
    """Hides every setting and variable whose name ends with `url` as well, for a password may stand in it."""

    hidden_settings = re.compile(SafeExceptionReporterFilter.hidden_settings.pattern + r"|URL$", re.IGNORECASE)
