// The bottom panel: the log as sentences with their time; warnings and errors say so in words and colour; a click jumps to the
// step. Follows the end unless one has scrolled up. GUI thread.
#pragma once
#include <QWidget>

class QListView;
class QStackedWidget;

namespace stepscope {

class LogModel;

class LogPanel : public QWidget {
    Q_OBJECT
public:
    explicit LogPanel(QWidget* parent = nullptr);
    void setModel(LogModel* model);  // the live run's or the replay's
    QListView& view() { return *m_view; }
    // So much of its upper edge lies below something: a log that is short, or at its end, keeps out of it.
    void setCovered(int height);

Q_SIGNALS:
    void jumpToStep(qint64 step);

private:
    void grew();

    QListView* m_view;
    QStackedWidget* m_stack;
    LogModel* m_model = nullptr;
    bool m_following = true;
};

}  // namespace stepscope
