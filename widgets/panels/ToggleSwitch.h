// A two-state sliding switch that also says its state in words ("off", "bf16"): no meaning by colour or place alone.
// Used by ValueEdit for choices of exactly two words; GUI thread.
#pragma once
#include <QAbstractButton>

namespace stepscope {

class ToggleSwitch : public QAbstractButton {
    Q_OBJECT
public:
    explicit ToggleSwitch(QWidget* parent = nullptr);
    void setWords(const QString& whenOff, const QString& whenOn);
    QString word() const { return isChecked() ? m_on : m_off; }
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override { return sizeHint(); }

protected:
    void paintEvent(QPaintEvent*) override;
    bool hitButton(const QPoint& at) const override { return rect().contains(at); }

private:
    QString m_off = "off", m_on = "on";
};

}  // namespace stepscope
