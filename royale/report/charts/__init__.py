"""The charts of the report, a module a subject: on the page and as files, the same drawings.

Each is drawn for a width in CSS pixels, so that a phone gets legible text.
"""

from royale.report.charts.learning import learning_curves
from royale.report.charts.margins import margins
from royale.report.charts.panel import ratings
from royale.report.charts.power import resolving_power
from royale.report.charts.target import break_even
from royale.report.charts.watch import watch_curve, watch_curves, watch_panels

__all__ = [
    "break_even",
    "learning_curves",
    "margins",
    "ratings",
    "resolving_power",
    "watch_curve",
    "watch_curves",
    "watch_panels",
]
