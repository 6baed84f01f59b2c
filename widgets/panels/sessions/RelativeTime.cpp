// Words are English like the rest of the window, whatever the system's locale.
#include "widgets/panels/sessions/RelativeTime.h"

#include <QLocale>

namespace stepscope {

QString relativeTime(const QDateTime& when, const QDateTime& now) {
    const QLocale english(QLocale::English);
    const qint64 seconds = when.secsTo(now);
    if (seconds < 45) return "just now";  // also a clock that ran backwards
    if (seconds < 60 * 60) return QString("%1 min ago").arg(qMax<qint64>(1, (seconds + 30) / 60));
    const qint64 days = when.date().daysTo(now.date());
    if (days == 0) return QString("today %1").arg(english.toString(when, "HH:mm"));
    if (days == 1) return QString("yesterday %1").arg(english.toString(when, "HH:mm"));
    return english.toString(when, when.date().year() == now.date().year() ? "d MMM HH:mm" : "d MMM yyyy");
}

QString absoluteTime(const QDateTime& when) {
    return QLocale(QLocale::English).toString(when, "ddd d MMM yyyy, HH:mm:ss");
}

}  // namespace stepscope
