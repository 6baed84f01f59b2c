// The colours that a timeline uses, with their names, wrapped to the width there is. GUI thread.
#pragma once
#include <QPainter>
#include <QWidget>

#include "widgets/style/Metrics.h"
#include "widgets/style/Theme.h"
#include "widgets/timeline/TimelineLooks.h"

namespace stepscope {

class TimelineLegend : public QWidget {
    Q_OBJECT
public:
    using QWidget::QWidget;
    void setLooks(std::vector<LookClass> looks) {
        if (looks == m_looks) return;
        m_looks = std::move(looks);
        QStringList names;
        for (const LookClass look : m_looks) names.append(lookName(look));
        setAccessibleName("Colours: " + names.join(", "));
        if (width() > 0) setFixedHeight(place(width(), nullptr));
        updateGeometry();
        update();
    }
    bool hasHeightForWidth() const override { return true; }
    int heightForWidth(int width) const override { return place(width, nullptr); }
    QSize sizeHint() const override { return {200, place(std::max(width(), 200), nullptr)}; }
    QSize minimumSizeHint() const override { return {120, 16}; }

protected:
    void resizeEvent(QResizeEvent*) override { setFixedHeight(place(width(), nullptr)); }
    void paintEvent(QPaintEvent*) override {
        QPainter painter(this);
        place(width(), &painter);
    }

private:
    int place(int width, QPainter* painter) const {
        const QFontMetrics metrics(smallFont(font()));
        const int line = metrics.height() + 2;
        int x = 0, y = 0;
        if (painter != nullptr) painter->setFont(smallFont(font()));
        for (const LookClass look : m_looks) {
            const QString name = lookName(look);
            const int needed = 14 + metrics.horizontalAdvance(name) + 12;
            if (x > 0 && x + needed > width) {
                x = 0;
                y += line;
            }
            if (painter != nullptr) {
                painter->fillRect(QRect(x, y + (line - 10) / 2, 10, 10), lookColour(look, isDark(palette())));
                painter->setPen(mutedText(palette()));
                painter->drawText(QRect(x + 14, y, needed, line), Qt::AlignVCenter, name);
            }
            x += needed;
        }
        return y + line;
    }

    std::vector<LookClass> m_looks;
};

}  // namespace stepscope
