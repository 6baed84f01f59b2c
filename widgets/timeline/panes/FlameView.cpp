#include "widgets/timeline/panes/FlameView.h"

#include <QHelpEvent>
#include <QKeyEvent>
#include <QPainter>
#include <QToolTip>
#include <algorithm>

#include "widgets/style/Metrics.h"
#include "widgets/style/Theme.h"
#include "widgets/style/WidgetPicture.h"
#include "widgets/timeline/TimelineLooks.h"

namespace stepscope {
namespace {

constexpr double kLeastBox = 1;  // pixels: what is narrower is not drawn
constexpr int kLeastForText = 24;

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
    setAccessibleDescription(
        "What called what for how long. A click gives a box all the width, Escape and Backspace go back, a double click shows it in "
        "the timeline.");
    offerPicture(*this, "flame-graph");
}

void FlameView::setTree(const FlameTree* tree, FlameOrder order) {
    if (tree != m_tree) m_shown = 0;
    m_tree = tree;
    m_order = order;
    layOut();
}

void FlameView::setWords(const QString& words) {
    m_words = words.trimmed();
    count();
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
    count();
    update();
}

bool FlameView::fits(std::uint32_t node) const {
    return !m_words.isEmpty() && paneText(m_tree->name(node)).contains(m_words, Qt::CaseInsensitive);
}

void FlameView::count() {
    m_matching = 0;
    if (m_tree == nullptr || m_words.isEmpty()) return;
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
    QWidget::keyPressEvent(event);
}

QString FlameView::facts(std::uint32_t node) const {
    const FlameNode& one = m_tree->nodes()[node];
    const auto all = static_cast<double>(std::max<std::int64_t>(1, m_tree->nodes()[0].total));
    return QString("%1\n%2, %3 of all; itself %4\n%5 calls")
        .arg(node == 0 ? QString("all") : paneText(m_tree->name(node)), paneTime(one.total), panePercent(static_cast<double>(one.total) / all),
             paneTime(one.self), paneCount(one.calls));
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
