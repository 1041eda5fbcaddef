"""Alerts: what an operator must do, each with the reason, the remedy, and the page or command for it."""

from search.services.upkeep.alerts.alert import Alert as Alert
from search.services.upkeep.alerts.gather import site_alerts as site_alerts
