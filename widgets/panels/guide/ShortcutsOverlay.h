// What the keys do, laid over the window; any key or click closes it. GUI thread.
#pragma once
#include <QPointer>
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
    int keysColumn() const;  // how wide it is, with the gap behind it

protected:
    void paintEvent(QPaintEvent*) override;
    void mousePressEvent(QMouseEvent*) override { close(); }
    void keyPressEvent(QKeyEvent*) override { close(); }
    void closeEvent(QCloseEvent* event) override;
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    std::vector<Line> m_lines;
    QPointer<QWidget> m_before;  // had the focus, and has it again
};

}  // namespace stepscope
