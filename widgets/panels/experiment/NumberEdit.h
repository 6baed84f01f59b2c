// A number box over parseValue()'s rules: 64-bit whole numbers or reals, typed freely, stepped by the arrows (whole numbers by
// one, reals along 1-2-5). It never rewrites what is typed: a wrong text stays and is answered with a sentence beside it.
// Used by ValueEdit; GUI thread.
#pragma once
#include <QAbstractSpinBox>

#include "core/events/SwitchCatalogue.h"

namespace stepscope {

class NumberEdit : public QAbstractSpinBox {
    Q_OBJECT
public:
    explicit NumberEdit(QWidget* parent = nullptr);
    void setRange(const ValueRange& range) { m_range = range; }
    void setText(const QString& text);

    void stepBy(int steps) override;
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

Q_SIGNALS:
    void committed(const QString& text);  // Enter, focus left, or an arrow

protected:
    StepEnabled stepEnabled() const override { return isReadOnly() ? StepNone : StepUpEnabled | StepDownEnabled; }
    void wheelEvent(QWheelEvent* event) override;
    void timerEvent(QTimerEvent* event) override;

private:
    void commit();

    ValueRange m_range;
    QString m_last;
    int m_stepTimer = 0;
};

}  // namespace stepscope
