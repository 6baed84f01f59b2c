// A choice of exactly two words, both of them to be read: the chosen one is filled, the other one beside it says what a click makes of it. Where
// there is no room for both they end with an ellipsis each, and a tool tip has them whole. No meaning by colour or place alone. Used by ValueEdit;
// GUI thread.
#pragma once
#include <QAbstractButton>

namespace stepscope {

class ToggleSwitch : public QAbstractButton {
    Q_OBJECT
public:
    explicit ToggleSwitch(QWidget* parent = nullptr);
    void setWords(const QString& left, const QString& right);  // right: when checked
    QString word() const { return isChecked() ? m_right : m_left; }
    QRect placeOf(const QString& word) const;      // its half
    QString shownWord(const QString& word) const;  // as much of it as there is room for
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override { return sizeHint(); }

protected:
    void paintEvent(QPaintEvent*) override;
    bool event(QEvent* event) override;  // tool tips
    bool hitButton(const QPoint& at) const override { return rect().contains(at); }

private:
    QString m_left = "off", m_right = "on";
};

}  // namespace stepscope
