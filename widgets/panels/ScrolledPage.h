// ScrolledPage: the frame of a page whose parts stand one below the other and scroll together when there are more of them than the window is high,
// the way into the guide last. What stands in it is its subclass's. GUI thread.
#pragma once
#include <QScrollArea>

class QVBoxLayout;

namespace stepscope {

class ScrolledPage : public QScrollArea {
    Q_OBJECT
public:
    explicit ScrolledPage(const QString& name, QWidget* parent = nullptr);

Q_SIGNALS:
    void guideRequested();

protected:
    QVBoxLayout* parts() const { return m_parts; }
    // Once, behind the last part.
    void endParts();

private:
    QVBoxLayout* m_parts;
};

}  // namespace stepscope
