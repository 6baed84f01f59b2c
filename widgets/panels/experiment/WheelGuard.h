// The wheel scrolls; it never changes a value that the pointer happens to lie over. Lists take it once they are clicked open, for then it is
// their popup that gets it. Watches every window of the program: what is built later is guarded too. Made by MainWindow; GUI thread.
#pragma once
#include <QObject>

class QWidget;

namespace stepscope {

class WheelGuard : public QObject {
    Q_OBJECT
public:
    explicit WheelGuard(QObject* parent = nullptr);
    // Whether a wheel over it would change what is chosen: lists, number boxes, sliders, dials and tabs; not scroll bars.
    static bool holdsValue(const QWidget* widget);

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;
};

}  // namespace stepscope
