#include "widgets/panels/run/FlipStrip.h"

#include <QGridLayout>
#include <QHBoxLayout>
#include <QPushButton>
#include <QToolButton>
#include <tuple>

#include "widgets/panels/ElidedLabel.h"
#include "widgets/panels/LineIcon.h"
#include "widgets/style/Metrics.h"

namespace stepscope {
namespace {

using Verdict = FlipStripReading::Verdict;
constexpr int kReasonLines = 2;

// The words say it too: no meaning by colour alone.
Tone toneOf(Verdict verdict) {
    return verdict == Verdict::Better         ? Tone::Good
           : verdict == Verdict::Worse        ? Tone::Warning
           : verdict == Verdict::Inconclusive ? Tone::Muted
                                              : Tone::Normal;
}

auto tied(const FlipStripReading::Figure& f) {
    return std::tie(f.name, f.medians, f.change, f.spread, f.verdict);
}

}  // namespace

bool FlipStripReading::operator==(const FlipStripReading& other) const {
    return heading == other.heading && note == other.note && action == other.action && actionHint == other.actionHint &&
           std::equal(figures.begin(), figures.end(), other.figures.begin(), other.figures.end(),
                      [](const Figure& a, const Figure& b) { return tied(a) == tied(b); });
}

FlipStrip::FlipStrip(QWidget* parent) : QWidget(parent) {
    m_heading = new ElidedLabel(Tone::Normal);
    m_heading->setFont(headFont(font()));
    m_heading->setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
    m_note = new ElidedLabel(Tone::Muted);
    m_note->setFont(smallFont(font()));
    m_action = new QPushButton;
    m_action->setAutoDefault(false);
    m_action->setFont(smallFont(font()));
    m_action->hide();
    connect(m_action, &QPushButton::clicked, this, &FlipStrip::actionRequested);
    auto* close = m_close = new QToolButton;
    close->setIcon(lineIcon("close"));
    close->setAutoRaise(true);
    close->setToolTip("Close this comparison");
    close->setAccessibleName("Close this comparison");
    connect(close, &QToolButton::clicked, this, [this] {
        m_closed = true;
        hide();
    });

    auto* head = new QHBoxLayout;
    head->setSpacing(space(2));
    head->addWidget(m_heading);
    head->addWidget(m_note, 1);
    head->addWidget(m_action);
    head->addWidget(close);
    m_table = new QWidget;
    m_figures = new QGridLayout(m_table);
    m_figures->setContentsMargins(0, 0, 0, 0);
    m_figures->setHorizontalSpacing(space(3));
    m_figures->setVerticalSpacing(0);
    m_table->setToolTip(
        "Medians, and below them the quartiles: half of the steps lie between them. A change is named only where it is larger than nearly all "
        "changes at places of this run where nothing was flipped; at least 39 such places are needed.");
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(space(2), space(1), space(1), space(1));
    layout->setSpacing(0);
    layout->addLayout(head);
    layout->addWidget(m_table);
    m_reason = new ElidedLabel(Tone::Muted, kReasonLines);
    m_reason->setFont(smallFont(font()));
    m_reason->hide();
    layout->addWidget(m_reason);
    m_below = new ElidedLabel(Tone::Normal, 4);
    m_below->setFont(smallFont(font()));
    layout->addWidget(m_below);
    layout->addStretch();
    hide();
}

QSize FlipStrip::minimumSizeHint() const {
    return {240, m_heading->sizeHint().height() + 2 * space(1)};
}

void FlipStrip::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    dropWhatDoesNotFit();
}

// The quartiles go first, then the names: the tool tip has both. A reason that is longer than the row of the heading takes their place.
void FlipStrip::dropWhatDoesNotFit() {
    m_reason->setVisible(false);
    if (m_columns.empty() || m_reading.figures.empty()) return;
    const Column& first = m_columns.front();
    int room = height() - m_heading->sizeHint().height() - 3 * space(1) - first.medians->sizeHint().height() - first.change->sizeHint().height();
    const int beside = width() - m_heading->sizeHint().width() - m_close->sizeHint().width() -
                       (m_reading.action.isEmpty() ? 0 : m_action->sizeHint().width() + space(2)) - 2 * space(1) - 3 * space(2);
    const bool below = m_note->fontMetrics().horizontalAdvance(m_reading.note) > beside && room >= m_reason->sizeHint().height();
    m_note->setText(below ? QString() : m_reading.note);
    m_reason->setText(below ? m_reading.note : QString());
    m_reason->setVisible(below);
    if (below) room -= m_reason->sizeHint().height();
    const bool names = room >= first.name->sizeHint().height();
    if (names) room -= first.name->sizeHint().height();
    const bool spreads = room >= first.spread->sizeHint().height();
    for (std::size_t i = 0; i < m_columns.size() && i < m_reading.figures.size(); ++i) {
        m_columns[i].name->setVisible(names);
        m_columns[i].spread->setVisible(spreads);
    }
}

FlipStrip::Column FlipStrip::addColumn() {
    const auto label = [this](int row, const QFont& font) {
        auto* made = new ElidedLabel(Tone::Muted);
        made->setFont(font);
        made->setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
        m_figures->addWidget(made, row, static_cast<int>(m_columns.size()));
        return made;
    };
    return {label(0, smallFont(font())), label(1, tabularFont(font())), label(2, headFont(smallFont(font()))),
            label(3, smallFont(tabularFont(font())))};
}

// Called while steps are being measured: what has not changed is not touched, or the window would take time from the steps that it compares.
void FlipStrip::setReading(const FlipStripReading& reading) {
    if (reading == m_reading && !isHidden()) return;
    m_closed = m_closed && reading.heading == m_reading.heading;
    m_reading = reading;
    if (m_closed) return;
    m_heading->setText(reading.heading);
    const bool wide = !reading.figures.empty();
    m_note->setText(wide ? reading.note : QString());
    m_below->setText(wide ? QString() : reading.note);
    m_below->setVisible(!wide && !reading.note.isEmpty());
    m_action->setText(reading.action);
    m_action->setToolTip(reading.actionHint.isEmpty() ? QString() : "<p>" + reading.actionHint.toHtmlEscaped() + "</p>");
    m_action->setAccessibleDescription(reading.actionHint);
    m_action->setVisible(!reading.action.isEmpty());
    while (m_columns.size() < reading.figures.size()) m_columns.push_back(addColumn());
    QStringList spoken{reading.heading, reading.note};
    for (std::size_t i = 0; i < m_columns.size(); ++i) {
        const Column& column = m_columns[i];
        const bool used = i < reading.figures.size();
        for (ElidedLabel* label : {column.name, column.medians, column.change, column.spread}) label->setVisible(used);
        if (!used) continue;
        const auto& figure = reading.figures[i];
        column.name->setText(figure.name);
        column.medians->setText(figure.medians);
        column.medians->setTone(Tone::Normal);
        column.change->setText(figure.change);
        column.change->setTone(toneOf(figure.verdict));
        column.spread->setText(figure.spread);
        const QString hint = figure.hint.isEmpty() ? QString() : "\n" + figure.hint;
        for (ElidedLabel* label : {column.medians, column.change}) label->setMore(figure.name + ": " + figure.medians + "\n" + figure.spread + hint);
        column.name->setMore(figure.hint);
        spoken << figure.name + ": " + figure.medians + ", " + figure.change;
    }
    m_table->setVisible(!reading.figures.empty());
    dropWhatDoesNotFit();
    setAccessibleName(spoken.join(". "));
    show();
}

}  // namespace stepscope
