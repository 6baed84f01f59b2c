#include "widgets/timeline/panes/Pane.h"

#include "core/base/Format.h"
#include "widgets/timeline/TimelineLooks.h"

namespace stepscope {

QString paneText(const std::string& text) {
    return QString::fromStdString(text);
}

QString paneTime(std::int64_t ns) {
    return timeText(static_cast<double>(ns));
}

QString paneCount(std::int64_t count) {
    return QString::fromStdString(format::count(count));
}

QString panePercent(double share) {
    return share < 0 ? QString("–") : QString("%1\u2009%").arg(100 * share, 0, 'f', share < 0.1 ? 2 : 1);
}

QString paneTip(const QString& text) {
    constexpr qsizetype kMostTip = 700;
    const QString some = text.size() > kMostTip ? text.left(kMostTip) + "…" : text;
    return "<qt>" + some.toHtmlEscaped().replace("::", "::\u200b").replace(',', ",\u200b").replace('\n', "<br>") + "</qt>";
}

QString tooManySlices(const RangePanes& panes) {
    return QString(
               "%1 slices begin in this range, more than the %2 that are read one by one: zoom in, or select a shorter range with Shift and drag.")
        .arg(paneCount(panes.slices), paneCount(PanesReader::kMostSlices));
}

}  // namespace stepscope
