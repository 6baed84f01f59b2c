// What the window looks at: the live feed or the replay's. The charts, the log and the text page show one of the two; both go on
// filling meanwhile, so returning to live loses nothing. GUI thread.
#pragma once
#include <QObject>
#include <QString>

namespace stepscope {

class ExperimentPanel;
class LiveFeed;
class LivePage;
class LogPanel;
class TextPage;
class TransportBar;
struct TextGenerated;

class Stage : public QObject {
    Q_OBJECT
public:
    struct Panels {  // that it speaks to
        ExperimentPanel& experiment;
        LivePage& livePage;
        TransportBar& transport;
        TextPage& textPage;
        LogPanel& log;
    };
    Stage(const Panels& panels, LiveFeed& live, LiveFeed& replay, QObject* parent = nullptr);

    LiveFeed& live() { return m_live; }
    LiveFeed& replay() { return m_replay; }
    LiveFeed& shown() { return m_replaying ? m_replay : m_live; }
    bool replaying() const { return m_replaying; }
    void showLive();
    void showReplay();
    void setMachine(const QString& host);  // another one, where runs are trained; named in the title

Q_SIGNALS:
    void titleChanged(const QString& title);  // of the window
    void switched();                          // the other feed is shown now
    void grew();                              // the shown feed has something new
    void started();                           // the shown feed began another session

private:
    void follow(LiveFeed& feed);
    void bind();
    void showTitle();
    void showText();
    TextGenerated asShown(TextGenerated text) const;

    Panels m_panels;
    LiveFeed& m_live;
    LiveFeed& m_replay;
    QString m_host;
    bool m_replaying = false;
};

}  // namespace stepscope
