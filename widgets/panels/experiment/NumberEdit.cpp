#include "widgets/panels/experiment/NumberEdit.h"

#include <QLineEdit>
#include <QTimerEvent>
#include <QWheelEvent>
#include <array>
#include <cmath>

#include "core/events/ConfigKeys.h"

namespace stepscope {
namespace {

// The next value of the 1-2-5 series above or below; zero steps up to a thousandth of the range's top at most.
double alongOneTwoFive(double from, bool up, const RealRange& range) {
    if (from <= 0) return up ? std::max(range.least, std::min(1e-4, range.most / 10)) : range.least;
    static constexpr std::array<double, 5> kSeries{0.5, 1, 2, 5, 10};
    const double decade = std::pow(10.0, std::floor(std::log10(from) + 1e-9));
    double best = from;
    if (up) {
        for (auto mark = kSeries.rbegin(); mark != kSeries.rend(); ++mark)
            if (*mark * decade > from * 1.0001) best = *mark * decade;
    } else {
        for (double mark : kSeries)
            if (mark * decade < from * 0.9999) best = mark * decade;
    }
    // Through the shortest text, so that 5 steps of 1e-4 read 0.0005 and not 0.00050000000000000001.
    return std::clamp(QString::number(best, 'g', 10).toDouble(), range.least, range.most);
}

}  // namespace

NumberEdit::NumberEdit(QWidget* parent) : QAbstractSpinBox(parent) {
    setFocusPolicy(Qt::StrongFocus);
    setAlignment(Qt::AlignLeft);
    setKeyboardTracking(false);
    connect(this, &QAbstractSpinBox::editingFinished, this, &NumberEdit::commit);
}

void NumberEdit::setText(const QString& text) {
    if (text == m_last) return;  // what is being typed meanwhile stays
    m_last = text;
    if (lineEdit()->text() != text) lineEdit()->setText(text);
}

void NumberEdit::stepBy(int steps) {
    const QString now = lineEdit()->text();
    if (const auto* whole = std::get_if<IntegerRange>(&m_range)) {
        bool valid = false;
        const qint64 value = now.toLongLong(&valid);
        if (!valid) return;
        qint64 next = 0;
        if (__builtin_add_overflow(value, static_cast<qint64>(steps), &next)) next = value;  // the largest or least number that there is
        lineEdit()->setText(QString::number(std::clamp<qint64>(next, whole->least, whole->most)));
    } else if (const auto* real = std::get_if<RealRange>(&m_range)) {
        bool valid = false;
        double value = now.toDouble(&valid);
        if (!valid) return;
        for (int i = 0; i < std::abs(steps); ++i) value = alongOneTwoFive(value, steps > 0, *real);
        lineEdit()->setText(QString::fromStdString(toString(Value{value})));
    }
    // A held arrow makes one commit at its end, not one a step: a commit can start a conversion in a live run.
    if (m_stepTimer != 0) killTimer(m_stepTimer);
    m_stepTimer = startTimer(350);
}

void NumberEdit::timerEvent(QTimerEvent* event) {
    if (event->timerId() != m_stepTimer) return QAbstractSpinBox::timerEvent(event);
    killTimer(m_stepTimer);
    m_stepTimer = 0;
    commit();
}

void NumberEdit::commit() {
    const QString text = lineEdit()->text().trimmed();
    if (text == m_last) return;
    m_last = text;
    Q_EMIT committed(text);
}

// A wheel over the panel scrolls the panel, whatever has the keyboard: in a run that is going on each value is a flip.
void NumberEdit::wheelEvent(QWheelEvent* event) {
    event->ignore();
}

QSize NumberEdit::sizeHint() const {
    return {96, QAbstractSpinBox::sizeHint().height()};
}
QSize NumberEdit::minimumSizeHint() const {
    return {72, QAbstractSpinBox::minimumSizeHint().height()};
}

}  // namespace stepscope
