"""What Qt knows of a language: how it writes numbers and dates, its direction, and the words of Qt's own dialogs."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from PySide6.QtCore import QLibraryInfo, QLocale, QTranslator

from app.formats import US_ENGLISH, Formats

if TYPE_CHECKING:
    from PySide6.QtWidgets import QApplication

_AROUND = r"(?:'[^']*'|[\s,،./-])*"  # what stands between two parts of a date


def formats_of(language: str) -> Formats:
    """Return the formats of a language such as `de` or `pt_BR`; US English for what Qt does not know."""
    locale = QLocale(language)
    if locale.language() == QLocale.Language.C or locale.name() == US_ENGLISH.locale:
        return US_ENGLISH
    long = QLocale.FormatType.LongFormat
    year = range(1, 13)
    whole = re.sub(rf"{_AROUND}dddd{_AROUND}", "", locale.dateFormat(long)).replace("dd", "d")
    long_day = re.sub(rf"{_AROUND}y+(?:'[^']*'|[年년])?{_AROUND}", "", whole)
    month = re.sub(rf"(?<!')d[.일日]?{_AROUND}", "", whole).replace("MMMM", "LLLL")
    time = locale.timeFormat(QLocale.FormatType.ShortFormat)
    currency = locale.toCurrencyString(1.5, "$", 2)
    return Formats(
        locale=locale.name(),
        group=locale.groupSeparator(),
        decimal=locale.decimalPoint(),
        dollars=re.sub(r"\d.*\d", "{amount}", currency),
        date=whole.replace("MMMM", "MMM"),
        day=long_day.replace("MMMM", "MMM"),
        long_day=long_day,
        month=month,
        time=time,
        clock=re.sub(r"(\W)mm", r"\1mm\1ss", time),
        months=tuple(locale.monthName(number, long) for number in year),
        months_alone=tuple(locale.standaloneMonthName(number, long) for number in year),
        short_months=tuple(locale.monthName(number, QLocale.FormatType.ShortFormat) for number in year),
        weekdays=tuple(locale.dayName(number, long) for number in range(1, 8)),
        halves=(locale.amText(), locale.pmText()),
    )


def translate_qt(qt_app: QApplication, language: str) -> None:
    """Let Qt's own dialogs speak the language, where Qt has it, and the window begin at its side."""
    locale = QLocale(language)
    QLocale.setDefault(locale)
    qt_app.setLayoutDirection(locale.textDirection())
    translator = QTranslator(qt_app)
    if translator.load(locale, "qtbase", "_", QLibraryInfo.path(QLibraryInfo.LibraryPath.TranslationsPath)):
        qt_app.installTranslator(translator)
