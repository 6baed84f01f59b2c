// A sentence across the window or a panel that waits until it is closed, with at most one action ("Undo"). What other programs
// put in a modal box. GUI thread.
#pragma once
#include <QWidget>

class QLabel;
class QToolButton;

namespace stepscope {

class NoticeBar : public QWidget {
    Q_OBJECT
public:
    enum class Kind { Note, Warning, Error };
    explicit NoticeBar(QWidget* parent = nullptr);
    void say(Kind kind, const QString& sentence, const QString& action = {});
    QString sentence() const;

Q_SIGNALS:
    void acted();

protected:
    void paintEvent(QPaintEvent*) override;

private:
    Kind m_kind = Kind::Note;
    QLabel* m_icon;
    QLabel* m_text;
    QToolButton* m_action;
};

}  // namespace stepscope
