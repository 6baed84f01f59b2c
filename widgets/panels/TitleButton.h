// A name that can be clicked: elided text, bold when told so, underlined under the mouse; with an icon, the icon in place of the text. Names of
// switches, the arrow back to the preset.
#pragma once
#include <QAbstractButton>

namespace stepscope {

class TitleButton : public QAbstractButton {
    Q_OBJECT
public:
    explicit TitleButton(const QString& text, QWidget* parent = nullptr);
    void setBold(bool bold);
    void setLink(bool link);  // in the accent colour; elided only where it is long
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

protected:
    void paintEvent(QPaintEvent*) override;
    void enterEvent(QEnterEvent*) override { update(); }
    void leaveEvent(QEvent*) override { update(); }

private:
    bool m_link = false;
};

}  // namespace stepscope
