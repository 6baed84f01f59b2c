// When something happened, as a person says it: "just now", "12 min ago", "yesterday 14:02", "12 Nov". Pure functions.
#pragma once
#include <QDateTime>
#include <QString>

namespace stepscope {

QString relativeTime(const QDateTime& when, const QDateTime& now);
QString absoluteTime(const QDateTime& when);  // "Tue 12 Nov 2024, 14:02:11"

}  // namespace stepscope
