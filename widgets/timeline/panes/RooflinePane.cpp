#include "widgets/timeline/panes/RooflinePane.h"

#include <QComboBox>
#include <QSignalBlocker>
#include <algorithm>

#include "core/base/Format.h"
#include "widgets/panels/ElidedLabel.h"

namespace stepscope {
namespace {

constexpr int kOperationDots = 0, kKernelDots = 1;
constexpr const char* kRooflineMore =
    "A dot's height is what it computes a second of its own time, its place from left to right what it computes for each byte of its operands and "
    "its "
    "result; its size is its share of the time. Nothing can lie above the roof but what finds its data in a cache. FLOP are those of matrix products "
    "and attention. Bound by: where a dot reaches at least half of the roof above it, memory on the slope, compute on the flat part; else neither.";

double shownShare(const std::vector<RooflineDot>& dots) {
    double sum = 0;
    for (const RooflineDot& dot : dots) sum += dot.share;
    return std::min(1.0, sum);
}

}  // namespace

RooflinePane::RooflinePane(QWidget* parent) : Pane(parent) {
    m_chart = new RooflineView;
    m_where = operationsOrKernels("What the roofline shows");
    m_where->setSizePolicy(QSizePolicy::Maximum, QSizePolicy::Fixed);
    const auto [head, empty] = layOutPane(*this, {m_where}, {}, m_chart);
    m_head = head;
    m_empty = empty;
    connect(m_where, &QComboBox::currentIndexChanged, this, &RooflinePane::showDots);
    connect(m_chart, &RooflineView::dotChosen, this, [this](int dot) {
        const RooflineDot& one = m_chart->dots().at(static_cast<std::size_t>(dot));
        if (one.longest.duration >= 0)
            Q_EMIT sliceWanted(one.longest.lane, one.longest.depth, one.longest.start);
        else
            Q_EMIT nameWanted(paneText(one.name));
    });
    showDots();
}

void RooflinePane::setView(const PanesView& view) {
    m_view = view;
    if (view.panes && !std::exchange(m_filled, true)) {
        const QSignalBlocker quiet(m_where);
        m_where->setCurrentIndex(kernelDots(*view.panes, view.roof).empty() ? kOperationDots : kKernelDots);
    }
    showDots();
}

void RooflinePane::showDots() {
    const auto& panes = m_view.panes;
    const bool device = panes && panes->devices;
    const bool kernels = device && m_where->currentIndex() == kKernelDots;
    std::vector<RooflineDot> dots;
    if (panes) dots = kernels ? kernelDots(*panes, m_view.roof) : operationDots(*panes, m_view.roof);
    // Beside a GPU operations only launch: the roof is the GPU's, and the time of a launch says nothing of it.
    const Roof roof =
        device && !kernels ? Roof{.whyNone = "Operations of a run on a GPU only launch what computes; its roof is over the kernels."} : m_view.roof;
    if (device && !kernels)
        for (RooflineDot& dot : dots) dot.bounded = {};
    const bool some = !dots.empty();
    m_where->setVisible(device && (some || !(kernels ? operationDots(*panes, roof) : kernelDots(*panes, roof)).empty()));
    m_head->setVisible(some);
    m_chart->setVisible(some);
    m_empty->setVisible(!some && panes);
    if (some) {
        QString text = QString("%1 · %2 %3, %4 of the time")
                           .arg(m_view.range, paneCount(static_cast<std::int64_t>(dots.size())), kernels ? "kernels" : "operations",
                                panePercent(shownShare(dots)));
        text += roof.known() ? " · roof " + paneText(roof.source) : roof.whyNone.empty() ? QString() : " · " + paneText(roof.whyNone);
        m_head->setText(text);
        m_head->setMore(kRooflineMore);
        m_head->setLines(roof.known() ? 1 : 2);  // why there is none is a sentence
    } else if (panes) {
        m_empty->setText(panes->folded
                             ? tooManySlices(*panes)
                             : QString("Of no %1 in %2 both the FLOP and the bytes were recorded. Runs of Stepscope have them of matrix products and "
                                       "attention; traces of PyTorch's profiler where they were made with record_shapes and with_flops.")
                                   .arg(kernels ? "kernel" : "operation", m_view.range));
    } else {
        m_empty->clear();
    }
    m_chart->setDots(std::move(dots), roof);
}

void RooflinePane::setSelected(const std::optional<QString>& name, bool onDevice) {
    const auto& dots = m_chart->dots();
    const bool kernels = m_view.panes && m_view.panes->devices && m_where->currentIndex() == kKernelDots;
    int found = -1;
    for (std::size_t i = 0; name && onDevice == kernels && i < dots.size(); ++i)
        if (paneText(dots[i].name) == *name) found = static_cast<int>(i);
    m_chart->select(found);
}

QString RooflinePane::asText() const {
    if (m_chart->dots().empty()) return m_empty->text();
    QString text = m_head->text() + '\n';
    for (const RooflineDot& dot : m_chart->dots())
        text += QString("%1\t%2 FLOP/B\t%3\t%4\n")
                    .arg(paneText(dot.name), paneText(format::significant(dot.intensity)), paneText(format::rate(dot.flopsPerSecond, "FLOP/s")),
                         QString(toString(dot.bounded.by)));
    return text;
}

}  // namespace stepscope
