// Ticks the page of charts every 33 ms while there may be something to draw, and sleeps otherwise: nothing new for a while, the
// page not visible, the window minimised. Woken by new events and by anything a person does to the page. GUI thread.
#pragma once
#include <QElapsedTimer>
#include <QObject>
#include <QTimer>

namespace stepscope {

class LivePage;

class ChartClock : public QObject {
    Q_OBJECT
public:
    explicit ChartClock(LivePage& page, QObject* parent = nullptr);
    void wake();
    bool isAwake() const { return m_timer.isActive(); }

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    void tick();

    LivePage& m_page;
    QTimer m_timer;
    QElapsedTimer m_sinceWoken;
};

}  // namespace stepscope
