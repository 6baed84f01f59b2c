// What is to be said of one row: a word or two beside its editor, in a place that is kept for it, and, clicked, the whole of it on a card with
// what can be done about it. It never moves a row. Used by ValueRow; GUI thread.
#pragma once
#include <QAbstractButton>

#include "widgets/panels/ToneLabel.h"

class QFrame;
class QHBoxLayout;

namespace stepscope {

class TitleButton;

class RowRemark : public QAbstractButton {
    Q_OBJECT
public:
    explicit RowRemark(const QString& title, QWidget* parent = nullptr);
    // brief: elided where it is long; sentence: the whole. Both empty = nothing to say.
    void say(Tone tone, const QString& brief, const QString& sentence);
    QString sentence() const;
    TitleButton* addLink(const QString& text);  // on the card; closes it when it is clicked
    void setLinksShown(bool shown);
    void openCard();
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

protected:
    void paintEvent(QPaintEvent*) override;
    void enterEvent(QEnterEvent*) override { update(); }
    void leaveEvent(QEvent*) override { update(); }

private:
    QString m_title;
    Tone m_tone = Tone::Muted;
    QFrame* m_card;
    ToneLabel* m_sentence;
    QWidget* m_links;
    QHBoxLayout* m_linkLine;
};

}  // namespace stepscope
