// Three short hints on the first start, each goes away for good when it is closed (QSettings). GUI thread.
#pragma once
#include <QWidget>

class QSettings;

namespace stepscope {

class HintStrip : public QWidget {
    Q_OBJECT
public:
    explicit HintStrip(QWidget* parent = nullptr);
    int shown() const { return m_shown; }

protected:
    void paintEvent(QPaintEvent*) override;

private:
    int m_shown = 0;
};

}  // namespace stepscope
