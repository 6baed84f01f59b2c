#include "widgets/timeline/panes/FlameView.h"

#include <QHelpEvent>
#include <QKeyEvent>
#include <QPainter>
#include <QToolTip>
#include <algorithm>

#include "widgets/charts/KeepInSight.h"
#include "widgets/style/CsvText.h"
#include "widgets/style/Metrics.h"
#include "widgets/style/Theme.h"
#include "widgets/style/WidgetPicture.h"
#include "widgets/timeline/TimelineLooks.h"

namespace stepscope {
namespace {

constexpr double kLeastBox = 1;  // pixels: what is narrower is not drawn
constexpr int kLeastForText = 24;
constexpr const char* kFlameHelp =
    "What called what for how long. The arrow keys go from box to box, Enter gives one all the width, Shift and Enter show its name in "
    "the timeline, Backspace goes back, Escape shows all.";

// Warm hues by name, the same one for the same name, so that boxes beside each other are told apart.
QColor flameColour(const QString& name, SliceKind kind, bool dark) {
    const auto hash = static_cast<std::uint32_t>(qHash(name, 7));
    int hue = 18 + static_cast<int>(hash % 34);
    if (kind == SliceKind::Python) hue = 200 + static_cast<int>(hash % 24);
    if (isDeviceWork(kind)) hue = 150 + static_cast<int>(hash % 24);
    if (kind == SliceKind::Runtime || kind == SliceKind::Driver || kind == SliceKind::Synchronisation) hue = 255 + static_cast<int>(hash % 20);
    const bool quiet = kind == SliceKind::Step || kind == SliceKind::Phase || kind == SliceKind::Other;
    const int saturation = quiet ? 25 : 120 + static_cast<int>(hash / 64 % 40);
    return QColor::fromHsv(hue, saturation, dark ? 120 + static_cast<int>(hash / 512 % 24) : 228 + static_cast<int>(hash / 512 % 24));
}

}  // namespace

FlameView::FlameView(QWidget* parent) : QWidget(parent) {
    setFont(smallFont(font()));
    setFocusPolicy(Qt::StrongFocus);
    setMouseTracking(true);
    setAccessibleName("Flame graph");
    setAccessibleDescription(kFlameHelp);
    offerPicture(*this, "flame-graph", [this] { return asCsv(); });
}

void FlameView::setTree(const FlameTree* tree, FlameOrder order) {
    const bool another = tree != m_tree;
    m_tree = tree;
    m_order = order;
    if (another) {
        m_shown = 0;
        m_chosen.reset();
        match();
    }
    layOut();
    describe();
}

QString FlameView::asCsv() const {
    CsvText csv({"Row", "Name", "Caller", "Calls", "Total (ms)", "Self (ms)"});
    if (m_tree == nullptr) return csv.text();
    const auto name = [this](std::uint32_t node) { return node == 0 ? QString("all") : paneText(m_tree->name(node)); };
    for (const FlameBox& box : m_boxes) {
        const FlameNode& node = m_tree->nodes()[box.node];
        csv.row({QString::number(box.row), name(box.node), box.node == 0 ? QString() : name(node.parent), QString::number(node.calls),
                 csvMilliseconds(node.total), csvMilliseconds(node.self)});
    }
    return csv.text();
}

void FlameView::setWords(const QString& words) {
    m_words = words.trimmed();
    match();
    update();
}

void FlameView::zoomTo(std::uint32_t node) {
    if (m_tree == nullptr || node >= m_tree->nodes().size()) return;
    m_shown = node;
    layOut();
    Q_EMIT shownChanged();
}

void FlameView::layOut() {
    m_boxes = m_tree == nullptr || width() <= 0 ? std::vector<FlameBox>() : flameBoxes(*m_tree, m_shown, m_order, kLeastBox / width());
    int rows = 1;
    for (const FlameBox& box : m_boxes) rows = std::max(rows, box.row + 1);
    const int high = rows * rowHeight() + 2;
    if (minimumHeight() != high) setMinimumHeight(high);
    if (m_chosen && boxOf(*m_chosen) == nullptr) {
        m_chosen.reset();
        describe();
    }
    update();
}

bool FlameView::fits(std::uint32_t node) const {
    return !m_words.isEmpty() && m_fitting[m_tree->nodes()[node].text];
}

// Each name is looked at once, however many boxes bear it.
void FlameView::match() {
    m_matching = 0;
    m_fitting.clear();
    if (m_tree == nullptr || m_words.isEmpty()) return;
    m_fitting.reserve(m_tree->texts().size());
    for (const std::string& text : m_tree->texts()) m_fitting.push_back(paneText(text).contains(m_words, Qt::CaseInsensitive));
    const auto& nodes = m_tree->nodes();
    std::vector<bool> within(nodes.size());
    for (std::uint32_t i = 1; i < nodes.size(); ++i) {
        within[i] = within[nodes[i].parent];
        if (within[i] || !fits(i)) continue;
        within[i] = true;
        m_matching += nodes[i].total;
    }
}

QSize FlameView::sizeHint() const {
    return {320, minimumHeight()};
}

QRect FlameView::rectOf(const FlameBox& box) const {
    const int left = static_cast<int>(box.left * width()), right = static_cast<int>(box.right * width());
    return {left, box.row * rowHeight(), std::max(1, right - left), rowHeight() - 1};
}

const FlameBox* FlameView::boxAt(QPoint at) const {
    for (const FlameBox& box : m_boxes)
        if (rectOf(box).contains(at)) return &box;
    return nullptr;
}

const FlameBox* FlameView::boxOf(std::uint32_t node) const {
    const auto found = std::ranges::find(m_boxes, node, &FlameBox::node);
    return found == m_boxes.end() ? nullptr : &*found;
}

// Where an arrow key leads from a box: to what called it, to what it called first, or along its row. Null: nowhere.
const FlameBox* FlameView::beside(const FlameBox& box, int key) const {
    constexpr double kEdge = 1e-9;
    const int row = box.row + (key == Qt::Key_Down ? 1 : key == Qt::Key_Up ? -1 : 0);
    const FlameBox* best = nullptr;
    for (const FlameBox& one : m_boxes) {
        if (one.row != row || one.node == box.node) continue;
        const bool there = key == Qt::Key_Up     ? one.left <= box.left + kEdge && one.right >= box.right - kEdge
                           : key == Qt::Key_Down ? one.left >= box.left - kEdge && one.right <= box.right + kEdge
                           : key == Qt::Key_Left ? one.left < box.left
                                                 : one.left > box.left;
        if (there && (best == nullptr || (key == Qt::Key_Left ? one.left > best->left : one.left < best->left))) best = &one;
    }
    return best;
}

// The box that the keys are at, else what can be done.
void FlameView::describe() {
    setAccessibleDescription(m_tree != nullptr && m_chosen ? facts(*m_chosen).replace('\n', ", ") : QString(kFlameHelp));
}

void FlameView::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    const bool dark = isDark(palette());
    painter.fillRect(rect(), palette().color(QPalette::Base));
    const QFontMetrics metrics(font());
    for (const FlameBox& box : m_boxes) {
        const QRect where = rectOf(box);
        const FlameNode& node = m_tree->nodes()[box.node];
        const QString name = box.node == 0 ? QString("all") : paneText(m_tree->name(box.node));
        QColor colour = flameColour(name, node.kind, dark);
        const bool dimmed = !m_words.isEmpty() && !fits(box.node);
        if (dimmed) colour = dark ? QColor(0x3a3f45) : QColor(0xe4e7ea);
        painter.fillRect(where.adjusted(0, 0, where.width() > 2 ? -1 : 0, 0), colour);
        if (!m_selected.isEmpty() && name == m_selected) {
            painter.setPen(accentColour(dark));
            painter.drawRect(where.adjusted(0, 0, -2, -1));
        }
        if (where.width() < kLeastForText) continue;
        painter.setPen(dimmed ? mutedText(palette()) : dark ? QColor(0xf2f2f2) : QColor(0x1c1c1c));
        painter.drawText(where.adjusted(4, 0, -3, 0), Qt::AlignVCenter | Qt::AlignLeft,
                         metrics.elidedText(QString("%1  %2").arg(name, paneTime(node.total)), Qt::ElideRight, where.width() - 7));
    }
    if (!hasFocus()) return;
    const FlameBox* box = m_chosen ? boxOf(*m_chosen) : nullptr;
    painter.setBrush(Qt::NoBrush);
    painter.setPen(QPen(accentColour(dark), 2));
    painter.drawRect((box != nullptr ? rectOf(*box) : rect()).adjusted(1, 1, -1, -1));
}

void FlameView::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    layOut();
}

void FlameView::mouseReleaseEvent(QMouseEvent* event) {
    if (event->button() != Qt::LeftButton) return;
    if (const FlameBox* box = boxAt(event->position().toPoint())) zoomTo(box->node);
}

void FlameView::mouseDoubleClickEvent(QMouseEvent* event) {
    if (const FlameBox* box = boxAt(event->position().toPoint()); box != nullptr && box->node != 0)
        Q_EMIT nameWanted(paneText(m_tree->name(box->node)));
}

void FlameView::keyPressEvent(QKeyEvent* event) {
    if (m_tree != nullptr && m_shown != 0 && (event->key() == Qt::Key_Escape || event->key() == Qt::Key_Backspace))
        return zoomTo(event->key() == Qt::Key_Escape ? 0 : m_tree->nodes()[m_shown].parent);
    if (m_boxes.empty()) return QWidget::keyPressEvent(event);
    const FlameBox* box = m_chosen ? boxOf(*m_chosen) : nullptr;
    switch (event->key()) {
        case Qt::Key_Left:
        case Qt::Key_Right:
        case Qt::Key_Up:
        case Qt::Key_Down: {
            const FlameBox* next = box != nullptr ? beside(*box, event->key()) : boxOf(m_shown);
            if (next == nullptr) return;
            m_chosen = next->node;
            describe();
            keepInSight(*this, rectOf(*next));
            return update();
        }
        case Qt::Key_Return:
        case Qt::Key_Enter:
            if (box == nullptr) break;
            if ((event->modifiers() & Qt::ShiftModifier) == 0) return zoomTo(box->node);
            if (box->node != 0) Q_EMIT nameWanted(paneText(m_tree->name(box->node)));
            return;
        default:
            break;
    }
    QWidget::keyPressEvent(event);
}

QString FlameView::facts(std::uint32_t node) const {
    const FlameNode& one = m_tree->nodes()[node];
    const auto all = static_cast<double>(std::max<std::int64_t>(1, m_tree->nodes()[0].total));
    const QString text = QString("%1\n%2, %3 of all; itself %4")
                             .arg(node == 0 ? QString("all") : paneText(m_tree->name(node)), paneTime(one.total),
                                  panePercent(static_cast<double>(one.total) / all), paneTime(one.self));
    // All of it, and a thread by itself, nobody called.
    return one.calls > 0 ? QString("%1\n%2 %3").arg(text, paneCount(one.calls), one.calls == 1 ? "call" : "calls") : text;
}

bool FlameView::event(QEvent* event) {
    if (event->type() == QEvent::ToolTip) {
        const auto* help = static_cast<QHelpEvent*>(event);
        const FlameBox* box = boxAt(help->pos());
        if (box == nullptr)
            QToolTip::hideText();
        else
            QToolTip::showText(help->globalPos(), paneTip(facts(box->node)), this);
        return true;
    }
    return QWidget::event(event);
}

}  // namespace stepscope
