#include "widgets/timeline/panes/MemoryPane.h"

#include <QComboBox>
#include <QMouseEvent>
#include <QPainter>
#include <QPainterPath>
#include <QSignalBlocker>
#include <QSplitter>
#include <QVBoxLayout>
#include <algorithm>
#include <map>

#include "core/base/Format.h"
#include "widgets/style/CsvText.h"
#include "widgets/style/Metrics.h"
#include "widgets/style/SeriesColours.h"
#include "widgets/style/Theme.h"
#include "widgets/style/WidgetPicture.h"
#include "widgets/timeline/panes/PaneTable.h"

namespace stepscope {
namespace {

QString bytesText(std::int64_t bytes) {
    return QString::fromStdString(format::bytes(Bytes{bytes}));
}

QString memoryTitle(const MemoryOfDevice& memory, bool severalRanks) {
    QString text = memory.device < 0 ? QString("host") : QString("GPU %1").arg(memory.device);
    if (severalRanks) text += QString(" of rank %1").arg(memory.rank);
    return text;
}

// Empty where none is missing.
QString memoryMissing(std::int64_t missing) {
    if (missing <= 0) return {};
    return QString("%1 could not be kept: the curve is incomplete").arg(missing == 1 ? QString("1 allocation") : paneCount(missing) + " allocations");
}

// Where the curve says nothing.
CaptureSpans gapsOf(CaptureSpans captures, const MemoryOfDevice& memory, std::int64_t from) {
    std::vector<std::int64_t> times;
    for (const auto& point : memory.curve)
        if (point.first != from) times.push_back(point.first);  // at the begin of the range stands what was in use before
    return gapsBetween(std::move(captures), times);
}

}  // namespace

MemoryView::MemoryView(QWidget* parent) : QWidget(parent) {
    setFont(smallFont(font()));
    setMouseTracking(true);
    setAccessibleName("Memory in use over the range");
    offerPicture(*this, "memory", [this] { return asCsv(); });
}

void MemoryView::setMemory(const MemoryOfDevice* memory, std::int64_t from, std::int64_t to, std::int64_t missing, CaptureSpans captures) {
    m_memory = memory;
    m_from = from;
    m_to = to;
    m_missing = missing;
    m_gaps = memory == nullptr ? CaptureSpans() : gapsOf(std::move(captures), *memory, from);
    setAccessibleDescription(memoryMissing(missing));
    update();
}

QString MemoryView::asCsv() const {
    CsvText csv({"Time (ms)", "In use (B)"});
    if (m_memory == nullptr) return csv.text();
    for (const auto& [at, bytes] : m_memory->curve) csv.row({csvMilliseconds(at), QString::number(bytes)});
    return csv.text();
}

void MemoryView::mouseMoveEvent(QMouseEvent* event) {
    m_cursor = static_cast<int>(event->position().x());
    update();
}

void MemoryView::leaveEvent(QEvent*) {
    m_cursor = -1;
    update();
}

void MemoryView::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.fillRect(rect(), palette().color(QPalette::Base));
    if (m_memory == nullptr || m_memory->curve.empty() || m_to <= m_from) return;
    const auto& curve = m_memory->curve;
    const QRectF all = QRectF(rect()).adjusted(2, fontMetrics().height() + 2, -2, -3);
    std::int64_t low = m_memory->absolute ? 0 : curve.front().second;
    for (const auto& [at, bytes] : curve) low = std::min(low, bytes);
    const double high = static_cast<double>(std::max<std::int64_t>(1, m_memory->peak - low));
    const auto x = [&](std::int64_t at) { return all.left() + all.width() * static_cast<double>(at - m_from) / static_cast<double>(m_to - m_from); };
    const auto y = [&](std::int64_t bytes) { return all.bottom() - all.height() * static_cast<double>(bytes - low) / high; };
    QPainterPath path;
    bool down = false;  // the pen
    const auto draw = [&](std::int64_t from, std::int64_t to, std::int64_t bytes) {
        if (!down) path.moveTo(x(from), all.bottom());
        path.lineTo(x(from), y(bytes));
        path.lineTo(x(to), y(bytes));
        down = true;
    };
    const auto lift = [&](std::int64_t at) {
        if (down) path.lineTo(x(at), all.bottom());
        down = false;
    };
    std::size_t gap = 0;
    for (std::size_t i = 0; i < curve.size(); ++i) {
        std::int64_t at = curve[i].first;
        const std::int64_t until = i + 1 < curve.size() ? curve[i + 1].first : m_to;  // it holds until the next
        while (gap < m_gaps.size() && m_gaps[gap].second <= at) ++gap;
        bool broken = false;
        for (std::size_t j = gap; j < m_gaps.size() && m_gaps[j].first < until; ++j) {
            if (m_gaps[j].first >= at) draw(at, m_gaps[j].first, curve[i].second);
            lift(m_gaps[j].first);
            at = m_gaps[j].second;
            broken = true;
        }
        if (at < until || !broken) draw(at, until, curve[i].second);
    }
    lift(m_to);
    const QColor colour = seriesColour(SeriesRole::Memory, isDark(palette()));
    painter.setRenderHint(QPainter::Antialiasing);
    painter.fillPath(path, faint(colour, palette().color(QPalette::Base), 0.35));
    painter.setPen(QPen(colour, 1.5));
    painter.drawPath(path);
    painter.setBrush(colour);
    painter.drawEllipse(QPointF(x(m_memory->peakAt), y(m_memory->peak)), 3, 3);
    painter.setPen(mutedText(palette()));
    QString text = QString("at most %1").arg(bytesText(m_memory->peak));
    if (m_cursor >= 0) {
        const auto at = m_from + static_cast<std::int64_t>((m_cursor - all.left()) / all.width() * static_cast<double>(m_to - m_from));
        std::int64_t here = curve.front().second;
        for (const auto& [when, bytes] : curve)
            if (when <= at) here = bytes;
        const bool unknown = std::ranges::any_of(m_gaps, [&](const auto& one) { return at >= one.first && at < one.second; });
        text = (unknown ? QString("nothing recorded here, ") : QString("%1 here, ").arg(bytesText(here))) + text;
        painter.drawLine(m_cursor, static_cast<int>(all.top()), m_cursor, static_cast<int>(all.bottom()));
    }
    painter.drawText(QRectF(0, 0, width() - 4, fontMetrics().height() + 2), Qt::AlignRight | Qt::AlignVCenter, text);
    if (m_missing <= 0) return;
    // Over the curve itself, so that a picture of it says it too.
    const int room = width() - 12 - fontMetrics().horizontalAdvance(text);
    painter.setPen(palette().color(QPalette::WindowText));
    painter.drawText(QRectF(4, 0, std::max(0, room), fontMetrics().height() + 2), Qt::AlignLeft | Qt::AlignVCenter,
                     fontMetrics().elidedText(memoryMissing(m_missing), Qt::ElideRight, room));
}

MemoryPane::MemoryPane(QWidget* parent) : Pane(parent) {
    m_device = new QComboBox;
    m_device->setAccessibleName("Whose memory");
    m_rowsOf = new QComboBox;
    m_rowsOf->setAccessibleName("What a row is");
    m_rowsOf->addItems({"by what it is for", "by who took it", "piece by piece"});
    m_curve = new MemoryView;
    m_table = new PaneTable("what was alive when most memory was in use", 2, true);
    m_split = new QSplitter(Qt::Horizontal);
    m_split->setChildrenCollapsible(false);
    auto* left = new QWidget;
    auto* inLeft = new QVBoxLayout(left);
    inLeft->setContentsMargins(0, 0, 0, 0);
    inLeft->setSpacing(space(1));
    auto* choices = new QHBoxLayout;
    choices->setSpacing(space(1));
    choices->addWidget(m_device);
    choices->addWidget(m_rowsOf);
    choices->addStretch(1);
    inLeft->addLayout(choices);
    inLeft->addWidget(m_curve, 1);
    m_split->addWidget(left);
    m_split->addWidget(m_table);
    m_split->setStretchFactor(0, 2);
    m_split->setStretchFactor(1, 3);
    m_split->setSizes({400, 600});  // else both begin with what they would like, and the curve likes all of it
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, space(1), 0, 0);
    layout->addWidget(m_split);
    connect(m_device, &QComboBox::currentIndexChanged, this, &MemoryPane::showDevice);
    connect(m_rowsOf, &QComboBox::activated, this, [this] {
        m_chosen = true;
        showDevice();
    });
}

void MemoryPane::setView(const PanesView& view) {
    m_curve->setMemory(nullptr, 0, 0, 0);
    m_view = view;
    m_panes = view.panes;
    const QString before = m_device->currentText();
    {
        const QSignalBlocker quiet(m_device);
        m_device->clear();
        if (m_panes)
            for (const auto& memory : m_panes->memory) m_device->addItem(memoryTitle(memory, m_panes->severalRanks));
        // A GPU's is what people ask for.
        const int known = m_device->findText(before);
        m_device->setCurrentIndex(known >= 0 ? known : m_device->count() - 1);
    }
    showDevice();
}

// The prediction is of one worker's device.
bool MemoryPane::predictedHere(const MemoryOfDevice& memory) const {
    return !m_view.predictedMemory.empty() && !m_panes->severalRanks && (memory.device >= 0) == m_view.predictedOnDevice;
}

void MemoryPane::showDevice() {
    const int place = m_device->currentIndex();
    const MemoryOfDevice* memory =
        m_panes && place >= 0 && place < static_cast<int>(m_panes->memory.size()) ? &m_panes->memory[static_cast<std::size_t>(place)] : nullptr;
    m_split->widget(0)->setVisible(memory != nullptr);
    m_device->setVisible(m_device->count() > 1);
    const std::int64_t missing = memory != nullptr ? memory->missing : m_panes ? m_panes->memoryMissing : 0;
    if (memory == nullptr) {
        if (!m_panes)
            m_table->setSentence({});
        else if (missing > 0)
            m_table->setSentence(QString("No memory is known to have been taken or given back in %1; %2.").arg(m_view.range, memoryMissing(missing)));
        else if (m_view.onlySlowest)
            m_table->setSentence(m_view.slowest);
        else
            m_table->setSentence(
                m_panes->allocations
                    ? QString("No memory was taken or given back in %1. “Fit” shows all that was captured.").arg(m_view.range)
                    : QString(
                          "No allocations were recorded in this capture. Captures of a run have them, and a trace of PyTorch's profiler where it was "
                          "made with profile_memory=True; how much memory the process uses stands in the counters below the lanes."));
        return m_table->setRows({}, {});
    }
    if (!m_chosen) m_rowsOf->setCurrentIndex(predictedHere(*memory) ? 0 : 1);
    QString text =
        QString("%1 · at most %2 in use on the %3").arg(m_view.range, bytesText(memory->peak), memoryTitle(*memory, m_panes->severalRanks));
    if (!memory->absolute) text += " since recording began";
    if (predictedHere(*memory)) {
        std::int64_t all = 0;
        for (const auto& [kind, bytes] : m_view.predictedMemory) all += bytes;
        text += QString(", %1 predicted").arg(bytesText(all));
    }
    if (memory->reserved >= 0) text += QString(", %1 held by the allocator").arg(bytesText(memory->reserved));
    text += QString(" · taken %1 times, %2").arg(paneCount(memory->allocations), bytesText(memory->taken));
    if (memory->aliveBytes < memory->peak)
        text += QString(" · %1 were taken before recording began").arg(bytesText(memory->peak - memory->aliveBytes));
    if (m_rowsOf->currentIndex() == 2 && memory->alivePieces > static_cast<std::int64_t>(memory->pieces.size()))
        text += QString(" · the largest %1 of %2 pieces").arg(paneCount(static_cast<qint64>(memory->pieces.size())), paneCount(memory->alivePieces));
    if (m_panes->memoryCut) text += QString(" · only the first %1 allocations were read").arg(paneCount(MemoryCurve::kMostKept));
    if (missing > 0) text += QString(" · ") + memoryMissing(missing);
    text += notRecorded(m_view);
    m_table->setSentence(
        text,
        "The rows are what was alive when most memory was in use, of what was recorded as taken. Predicted is what the settings that the "
        "run began with hold at the worst moment of a step.");
    m_curve->setMemory(memory, m_panes->from, m_panes->to, missing, m_view.captures);
    if (m_rowsOf->currentIndex() == 0)
        showKinds(*memory);
    else if (m_rowsOf->currentIndex() == 1)
        showOwners(*memory);
    else
        showPieces(*memory);
}

void MemoryPane::showKinds(const MemoryOfDevice& memory) {
    const bool predicted = predictedHere(memory);
    std::vector<PaneColumn> columns{{"Kind", "What the memory holds, where the recording says it", {}, true, 30},
                                    {"Share", "Of all that was recorded as taken and alive then", "%"},
                                    {"Bytes", "Alive at the highest point of the range", "B"}};
    if (predicted) columns.push_back({"Predicted", "What the settings that the run began with hold of it at the worst moment of a step", "B"});
    columns.push_back({"Pieces", "Allocations"});
    std::map<std::string, MemoryOwner> kinds;
    for (const MemoryOwner& one : memory.alive) {
        MemoryOwner& into = kinds[one.kind];
        into.bytes += one.bytes;
        into.count += one.count;
    }
    if (predicted)
        for (const auto& [kind, bytes] : m_view.predictedMemory) kinds.try_emplace(kind);
    std::vector<std::vector<PaneCell>> rows;
    for (const auto& [kind, one] : kinds) {
        const QString name = kind.empty() ? QString("unknown") : paneText(kind);
        const double share = static_cast<double>(one.bytes) / static_cast<double>(std::max<std::int64_t>(1, memory.aliveBytes));
        rows.push_back({{name, name}, {panePercent(share), 100 * share}, {bytesText(one.bytes), static_cast<qlonglong>(one.bytes)}});
        if (predicted) {
            const auto found = m_view.predictedMemory.find(kind);
            rows.back().push_back(found == m_view.predictedMemory.end() ? PaneCell{QString("–"), static_cast<qlonglong>(0)}
                                                                        : PaneCell{bytesText(found->second), static_cast<qlonglong>(found->second)});
        }
        rows.back().push_back({paneCount(one.count), static_cast<qlonglong>(one.count)});
    }
    m_table->setRows(std::move(columns), std::move(rows));
}

void MemoryPane::showOwners(const MemoryOfDevice& memory) {
    std::vector<PaneColumn> columns{{"Kind", "What the memory holds, where the recording says it", {}, true, 18},
                                    {"Owner", "Who took it", {}, true, 26},
                                    {"Bytes", "Alive at the highest point of the range", "B"},
                                    {"Share", "Of all that was recorded as taken and alive then", "%"},
                                    {"Pieces", "Allocations"}};
    std::vector<std::vector<PaneCell>> rows;
    for (const MemoryOwner& one : memory.alive) {
        const double share = static_cast<double>(one.bytes) / static_cast<double>(std::max<std::int64_t>(1, memory.aliveBytes));
        const auto words = [](const std::string& text) { return text.empty() ? QString("unknown") : paneText(text); };
        rows.push_back({{words(one.kind), words(one.kind)},
                        {words(one.owner), words(one.owner), paneText(one.owner)},
                        {bytesText(one.bytes), static_cast<qlonglong>(one.bytes)},
                        {panePercent(share), 100 * share},
                        {paneCount(one.count), static_cast<qlonglong>(one.count)}});
    }
    m_table->setRows(std::move(columns), std::move(rows));
}

void MemoryPane::showPieces(const MemoryOfDevice& memory) {
    std::vector<PaneColumn> columns{{"Kind", "What the memory holds, where the recording says it", {}, true, 18},
                                    {"Owner", "Who took it", {}, true, 26},
                                    {"Bytes", "Of this one allocation", "B"},
                                    {"Taken", "When it was taken, since the session began", "ms"},
                                    {"Held", "How long it had been held when most memory was in use", "ms"}};
    std::vector<std::vector<PaneCell>> rows;
    const auto words = [](const std::string& text) { return text.empty() ? QString("unknown") : paneText(text); };
    const auto time = [](std::int64_t ns) { return PaneCell{paneTime(ns), static_cast<double>(ns) * 1e-6}; };
    for (const MemoryPiece& one : memory.pieces)
        rows.push_back({{words(one.kind), words(one.kind)},
                        {words(one.owner), words(one.owner), paneText(one.owner)},
                        {bytesText(one.bytes), static_cast<qlonglong>(one.bytes)},
                        time(one.at),
                        time(memory.peakAt > one.at ? memory.peakAt - one.at : 0)});
    m_table->setRows(std::move(columns), std::move(rows));
}

QString MemoryPane::asText() const {
    return m_table->sentence() + '\n' + m_table->asCsv();
}

}  // namespace stepscope
