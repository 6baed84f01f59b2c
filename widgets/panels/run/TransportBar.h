// The replay's controls beside the tabs: to the start, play or pause, to the end, speed, the scrubber, the step under the cursor,
// and the way back to live. Where room is scarce the name is elided first, then the step goes, then the word on the way back, then when it ends and
// the ways to both ends (the slider's own), then the slider becomes shorter. The time is never cut. Signals say what was asked; GUI thread.
#pragma once
#include <QWidget>
#include <vector>

#include "core/base/Units.h"

class QComboBox;
class QLabel;
class QToolButton;

namespace stepscope {

class ScrubBar;
struct ScrubMark;

class TransportBar : public QWidget {
    Q_OBJECT
public:
    static constexpr int kLeastSlider = 150, kTightSlider = 80;

    explicit TransportBar(QWidget* parent = nullptr);

    struct Place {
        TimeNs at, end;
        std::int64_t step = 0, lastStep = 0;
        bool playing = false, atEnd = false;
    };
    void setName(const QString& name);
    void setPlace(const Place& place);
    void setMarks(std::vector<ScrubMark> marks);
    double speed() const;

Q_SIGNALS:
    void playRequested();
    void pauseRequested();
    void seekRequested(stepscope::TimeNs at);
    void endRequested();
    void speedChanged(double factor);
    void closeRequested();

protected:
    void paintEvent(QPaintEvent*) override;
    void resizeEvent(QResizeEvent*) override { fit(); }

private:
    void fit();
    enum class Room { Wide, WithoutStep, Tight };  // Tight: without the ways to both ends, and only the time
    int widthBesideTitle(Room room) const;         // the slider at its least
    int timeWidth(Room room) const;
    void showTime(Room room);

    QString m_titleText = "replay";
    QLabel* m_title;
    QToolButton *m_toStart, *m_play, *m_toEnd;
    QComboBox* m_speed;
    ScrubBar* m_scrub;
    QLabel *m_step, *m_time;
    QToolButton* m_back;
    Place m_place;
};

}  // namespace stepscope
