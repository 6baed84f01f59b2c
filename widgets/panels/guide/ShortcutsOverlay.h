// What the keys do, laid over the window; any key or click closes it. GUI thread.
#pragma once
#include <QWidget>
#include <vector>

namespace stepscope {

class ShortcutsOverlay : public QWidget {
    Q_OBJECT
public:
    struct Line {
        QString keys, what;
    };
    ShortcutsOverlay(std::vector<Line> lines, QWidget* parent);
    void open();

protected:
    void paintEvent(QPaintEvent*) override;
    void mousePressEvent(QMouseEvent*) override { close(); }
    void keyPressEvent(QKeyEvent*) override { close(); }
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    std::vector<Line> m_lines;
    QWidget* m_before = nullptr;  // had the focus
};

}  // namespace stepscope
