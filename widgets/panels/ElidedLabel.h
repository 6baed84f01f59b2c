// A label that keeps its height: so many lines, wrapped, and an ellipsis where more is to be said; the tool tip says all of it then. For words
// that come and go beside rows that must not move. GUI thread.
#pragma once
#include <vector>

#include "widgets/panels/ToneLabel.h"
#include "widgets/style/SeriesColours.h"

namespace stepscope {

class ElidedLabel : public ToneLabel {
    Q_OBJECT
public:
    explicit ElidedLabel(Tone tone, int lines = 1, QWidget* parent = nullptr);
    // Said in the tool tip below the text, e.g. where a number comes from.
    void setMore(const QString& more);
    void setLines(int lines);  // of which its height is made
    // Characters of the text in the colour that what they name has everywhere; the others keep the label's tone.
    struct Tint {
        qsizetype from = 0, length = 0;
        SeriesRole role = SeriesRole::A;
    };
    void setTints(std::vector<Tint> tints);
    QColor inkAt(qsizetype character) const;
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;
    bool isElided() const;

protected:
    void paintEvent(QPaintEvent*) override;
    bool event(QEvent* event) override;

private:
    QStringList laidOut(bool* elided) const;
    void drawLine(QPainter& painter, const QRect& place, const QString& line, qsizetype from) const;

    int m_lines;
    QString m_more;
    std::vector<Tint> m_tints;
};

}  // namespace stepscope
