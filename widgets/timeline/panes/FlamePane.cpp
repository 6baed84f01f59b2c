// The pane Flame graph: which way up, a search, and the graph itself.
#include <QComboBox>
#include <QScrollArea>
#include <QToolButton>

#include "widgets/panels/ElidedLabel.h"
#include "widgets/timeline/panes/FlameView.h"

namespace stepscope {

namespace {
enum FlameChoice { TopDown, BottomUp, LeftHeavy };
}

FlamePane::FlamePane(QWidget* parent) : Pane(parent) {
    m_flame = new FlameView;
    m_scroll = new QScrollArea;
    m_scroll->setWidget(m_flame);
    m_scroll->setWidgetResizable(true);
    m_scroll->setFrameShape(QFrame::NoFrame);
    m_scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    m_scroll->setMinimumHeight(44);
    m_choice = new QComboBox;
    m_choice->addItems({"top-down", "bottom-up", "left-heavy"});
    m_choice->setAccessibleName("Which way the flame graph is drawn");
    m_choice->setToolTip(
        "Top-down: callers above, in the order of time. Bottom-up: what takes the time above, below it who called it. Left-heavy: "
        "callers above, what takes most at the left.");
    m_search = new QLineEdit;
    m_search->setPlaceholderText("Search");
    m_search->setClearButtonEnabled(true);
    m_search->setAccessibleName("Search the flame graph");
    m_search->setMaximumWidth(fontMetrics().averageCharWidth() * 22);
    m_whole = new QToolButton;
    m_whole->setText("All");
    m_whole->setAccessibleName("Show all of the flame graph");
    m_whole->setToolTip("All of it again (Esc)");
    m_whole->setAutoRaise(true);
    const auto [head, empty] = layOutPane(*this, {m_choice}, {m_search, m_whole}, m_scroll);
    m_head = head;
    m_empty = empty;
    connect(m_choice, &QComboBox::currentIndexChanged, this, &FlamePane::showTree);
    connect(m_search, &QLineEdit::textChanged, this, [this](const QString& words) {
        m_flame->setWords(words);
        showState();
    });
    connect(m_whole, &QToolButton::clicked, this, [this] { m_flame->zoomTo(0); });
    connect(m_flame, &FlameView::shownChanged, this, &FlamePane::showState);
    connect(m_flame, &FlameView::nameWanted, this, &Pane::nameWanted);
    showState();
}

void FlamePane::setView(const PanesView& view) {
    m_flame->setTree(nullptr, FlameOrder::Time);
    m_panes = view.panes;
    m_range = view.range;
    showTree();
}

bool FlamePane::drawsTurned() const {
    return m_choice->currentIndex() == BottomUp;
}

void FlamePane::showTree() {
    const int choice = m_choice->currentIndex();
    const FlameTree* tree = !m_panes ? nullptr : drawsTurned() ? &m_panes->turned : &m_panes->flame;
    m_flame->setTree(tree, choice == TopDown ? FlameOrder::Time : FlameOrder::Heaviest);
    showState();
    if (m_panes && drawsTurned() && m_panes->turned.empty() && !m_panes->flame.empty()) Q_EMIT turnWanted();
}

void FlamePane::showState() {
    const bool some = m_panes && !m_panes->flame.empty();
    for (QWidget* part : {static_cast<QWidget*>(m_choice), static_cast<QWidget*>(m_search), static_cast<QWidget*>(m_whole),
                          static_cast<QWidget*>(m_head), static_cast<QWidget*>(m_scroll)})
        part->setVisible(some);
    m_empty->setVisible(!some && m_panes != nullptr);
    m_whole->setEnabled(m_flame->shown() != 0);
    if (!m_panes) return m_empty->clear();
    m_empty->setText(m_panes->folded ? tooManySlices(*m_panes) : QString("Nothing ran in %1. “Fit” shows all that was captured.").arg(m_range));
    if (!some) return;
    QString text = QString("%1 · %2 of all threads and streams").arg(m_range, paneTime(m_panes->flame.nodes()[0].total));
    if (!m_search->text().trimmed().isEmpty()) text = QString("%1 in what fits “%2”").arg(paneTime(m_flame->matching()), m_search->text().trimmed());
    if (m_panes->flame.full()) text += " · what is rarest counts as its caller's own time";
    m_head->setText(text);
    m_head->setMore(
        "A click gives a box all the width; a click above it or Backspace goes back, Esc shows all; a double click shows the name in the timeline. "
        "The arrow "
        "keys go from box to box, Enter gives it all the width, Shift and Enter show its name in the timeline.");
}

void FlamePane::setSelected(const std::optional<QString>& name, bool) {
    m_flame->setSelected(name.value_or(QString()));
}

QString FlamePane::asText() const {
    QString text = m_head->text() + '\n';
    for (const FlameBox& box : m_flame->boxes()) text += QString(box.row, ' ') + m_flame->facts(box.node).replace('\n', "; ") + '\n';
    return m_panes && !m_panes->flame.empty() ? text : m_empty->text();
}

}  // namespace stepscope
