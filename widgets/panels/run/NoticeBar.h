// A sentence across the window or a panel that waits until it is closed, with at most one action ("Undo"). What other programs
// put in a modal box. It lies over the edge of what it is about and moves nothing. GUI thread.
#pragma once
#include <QWidget>

class QLabel;
class QToolButton;

namespace stepscope {

class NoticeBar : public QWidget {
    Q_OBJECT
public:
    enum class Kind { Note, Warning, Error };
    // Lies over `area`, along its upper or its lower edge, and belongs to it.
    NoticeBar(QWidget* area, Qt::Edge edge);
    void say(Kind kind, const QString& sentence, const QString& action = {});
    QString sentence() const;
    // Which of all that it has said stands there: another number after every say(). 0 = it is closed.
    int saying() const;

Q_SIGNALS:
    void acted();
    void coveredChanged(int height);  // so much of the area lies below it; 0 = it is closed

protected:
    void paintEvent(QPaintEvent*) override;
    void showEvent(QShowEvent* event) override;
    void hideEvent(QHideEvent* event) override;
    bool eventFilter(QObject* watched, QEvent* event) override;  // the area's size

private:
    void place();

    Qt::Edge m_edge;
    Kind m_kind = Kind::Note;
    int m_said = 0;  // so far
    QLabel* m_icon;
    QLabel* m_text;
    QToolButton* m_action;
};

}  // namespace stepscope
