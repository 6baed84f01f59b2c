#include "widgets/timeline/TimelineWords.h"

#include <algorithm>
#include <array>

#include "core/base/Format.h"
#include "widgets/timeline/TimelineLayout.h"
#include "widgets/timeline/TimelineLooks.h"

namespace stepscope {
namespace {

constexpr std::size_t kMostSums = 40;
constexpr const char* kNestedEach = "Calls within calls of the same name count each in the total: not every slice was looked at.";

QString html(const std::string& text) {
    return QString::fromStdString(text).toHtmlEscaped();
}
QString number(std::int64_t value) {
    return QString::fromStdString(format::count(value));
}
QString line(const QString& what, const QString& value) {
    return QString("<tr><td style='padding-right:12px'>%1</td><td>%2</td></tr>").arg(what, value);
}

// How often which duration, as blocks, the most frequent as high as there are: one a third of an octave or so.
QString histogram(const LogHistogram& durations) {
    const auto& cells = durations.cells();
    if (cells.empty()) return {};
    const int first = cells.begin()->first, last = cells.rbegin()->first;
    const int wide = std::max(1, (last - first + 24) / 24);
    std::vector<std::int64_t> bars(static_cast<std::size_t>((last - first) / wide + 1));
    for (const auto& [cell, times] : cells) {
        std::int64_t& bar = bars[static_cast<std::size_t>((cell - first) / wide)];
        bar = cappedSum(bar, times);
    }
    const std::int64_t most = std::ranges::max(bars);
    QString text;
    for (const std::int64_t bar : bars)
        text += bar == 0 ? QChar(0x00b7) : QChar(0x2581 + static_cast<int>(7 * static_cast<double>(bar) / static_cast<double>(most)));
    return QString("%1\u00a0%2\u00a0%3")
        .arg(timeText(static_cast<double>(LogHistogram::cellBegin(first))), text, timeText(static_cast<double>(LogHistogram::cellBegin(last + 1))))
        .replace(' ', QChar::Nbsp);
}

}  // namespace

QString rulerText(double value, int digits) {
    QString text = QString::number(value, 'f', digits);
    const qsizetype point = text.indexOf('.'), sign = text.startsWith('-') ? 1 : 0;
    for (qsizetype at = (point < 0 ? text.size() : point) - 3; at > sign; at -= 3) text.insert(at, QChar(0x202f));
    return text;
}

QString sliceWords(const TraceSlice& slice, const KinAnswer& kin, const std::vector<TraceSlice>& flows, qint64 origin) {
    const Slice& one = slice.slice;
    QString text = QString("<b>%1</b><table>").arg(html(slice.name));
    text += line("kind", kindName(one.kind) + (one.recomputed ? ", recomputed" : ""));
    text += line("begins", exactTimeText(one.start - origin));
    text += line("takes", timeText(static_cast<double>(one.duration)));
    if (one.called > 0) text += line("of it itself", timeText(static_cast<double>(one.self())));
    if (one.layer >= 0) text += line("layer", QString::number(one.layer));
    if (!slice.role.empty()) text += line("part", html(slice.role));
    if (!slice.phase.empty()) text += line("phase", html(slice.phase));
    if (one.step >= 0) text += line("step", number(one.step));
    text += line("on", html(slice.thread.name.empty() ? std::to_string(slice.thread.thread) : slice.thread.name));
    if (!slice.arguments.text.empty()) text += line("called with", html(slice.arguments.text));
    if (slice.arguments.flops > 0)
        text += line("computes",
                     QString::fromStdString(format::significant(static_cast<double>(slice.arguments.flops) / 1e9)) + " GFLOP" +
                         (one.duration > 0
                              ? QString(", %1 GFLOP/s").arg(static_cast<double>(slice.arguments.flops) / static_cast<double>(one.duration), 0, 'g', 3)
                              : QString()));
    if (slice.arguments.bytes > 0) text += line("moves", QString::fromStdString(format::bytes(Bytes{slice.arguments.bytes})));
    if (slice.arguments.grid[0] > 0)
        text += line("launched as", QString("grid %1 × %2 × %3, block %4 × %5 × %6, %7 registers, %8 B shared")
                                        .arg(slice.arguments.grid[0])
                                        .arg(slice.arguments.grid[1])
                                        .arg(slice.arguments.grid[2])
                                        .arg(slice.arguments.block[0])
                                        .arg(slice.arguments.block[1])
                                        .arg(slice.arguments.block[2])
                                        .arg(slice.arguments.registers)
                                        .arg(slice.arguments.sharedBytes));
    for (const auto& other : flows)
        text += line(other.slice.start >= one.start ? "leads to" : "comes from",
                     QString("%1, %2 %3")
                         .arg(html(other.name), timeText(static_cast<double>(std::abs(other.slice.start - one.start))),
                              other.slice.start >= one.start ? "later" : "before"));
    text += "</table>";
    if (kin.count > 0) {
        text += kin.count == 1 ? QString("<p>The only one of that name in this session:</p><table>")
                               : QString("<p>All %1 of that name in this session:</p><table>").arg(number(kin.count));
        text += line("total", timeText(static_cast<double>(kin.total - kin.nested)));
        text += line("itself", timeText(static_cast<double>(kin.self)));
        text += line("mean", timeText(static_cast<double>(kin.total) / static_cast<double>(kin.count)));
        text += line("shortest, longest", timeText(static_cast<double>(kin.shortest)) + ", " + timeText(static_cast<double>(kin.longest)));
        const auto within = [&](double share) { return std::clamp(kin.durations.percentile(share), kin.shortest, kin.longest); };
        text += line("p50, p95", timeText(static_cast<double>(within(0.5))) + ", " + timeText(static_cast<double>(within(0.95))) + " (within 13 %)");
        // Over both columns, and in one line: cut in two its blocks are no picture.
        text += QString("<tr><td colspan='2'>durations%1%2</td></tr>").arg(QChar::Nbsp).arg(histogram(kin.durations));
        text += "</table>";
        if (kin.nestedEach) text += QString("<p>%1</p>").arg(kNestedEach);
    }
    return text;
}

QString sumsWords(qint64 from, qint64 to, const RangeSums& sums) {
    QString text = QString("<b>%1 selected</b>, %2 slices begin in it.").arg(timeText(static_cast<double>(to - from)), number(sums.slices));
    if (cappedSum(sums.lost, sums.invalid) > 0) text += QString(" %1 more could not be kept.").arg(number(cappedSum(sums.lost, sums.invalid)));
    text +=
        "<table><tr><td style='padding-right:12px'>name</td><td style='padding-right:12px'>calls</td><td "
        "style='padding-right:12px'>itself</td><td>total</td></tr>";
    for (std::size_t i = 0; i < std::min(kMostSums, sums.sums.size()); ++i) {
        const RangeSum& sum = sums.sums[i];
        text += QString(
                    "<tr><td style='padding-right:12px'>%1</td><td align='right' style='padding-right:12px'>%2</td><td align='right' "
                    "style='padding-right:12px'>%3</td><td align='right'>%4</td></tr>")
                    .arg(sum.name.empty() ? kindName(sum.kind) : html(sum.name), number(sum.count), timeText(static_cast<double>(sum.self)),
                         timeText(static_cast<double>(sum.total)));
    }
    text += "</table>";
    if (sums.sums.size() > kMostSums) text += QString("%1 more names, each with less time.").arg(sums.sums.size() - kMostSums);
    if (sums.nestedEach) text += QString("<p>%1</p>").arg(kNestedEach);
    return text;
}

}  // namespace stepscope
