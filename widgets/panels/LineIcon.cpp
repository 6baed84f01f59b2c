// An icon engine instead of pixmaps: the colour is looked up when the icon is painted, so a switch from light
// to dark needs no reloading.
#include "widgets/panels/LineIcon.h"

#include <QFile>
#include <QGuiApplication>
#include <QIconEngine>
#include <QPainter>
#include <QPalette>
#include <QPixmapCache>
#include <QSvgRenderer>

#include "core/base/Check.h"

namespace stepscope {
namespace {

class LineIconEngine : public QIconEngine {
public:
    LineIconEngine(QString name, QColor fixed) : m_name(std::move(name)), m_fixed(std::move(fixed)) {
        QFile file(":/icons/" + m_name + ".svg");
        SS_CHECK(file.open(QIODevice::ReadOnly));
        m_svg = file.readAll();
    }

    void paint(QPainter* painter, const QRect& rect, QIcon::Mode mode, QIcon::State) override {
        QByteArray svg = m_svg;
        svg.replace("currentColor", colourFor(mode).name(QColor::HexRgb).toLatin1());
        QSvgRenderer renderer(svg);
        const int side = qMin(rect.width(), rect.height());
        QRectF square(0, 0, side, side);
        square.moveCenter(QRectF(rect).center());
        renderer.render(painter, square);
    }

    QPixmap pixmap(const QSize& size, QIcon::Mode mode, QIcon::State state) override { return scaledPixmap(size, mode, state, 1.0); }

    QPixmap scaledPixmap(const QSize& size, QIcon::Mode mode, QIcon::State state, qreal) override {
        const QString key = QString("stepscope-icon/%1/%2/%3").arg(m_name, colourFor(mode).name()).arg(size.width());
        QPixmap drawn;
        if (QPixmapCache::find(key, &drawn)) return drawn;
        drawn = QPixmap(size);
        drawn.fill(Qt::transparent);
        QPainter painter(&drawn);
        paint(&painter, QRect(QPoint(0, 0), size), mode, state);
        painter.end();
        QPixmapCache::insert(key, drawn);
        return drawn;
    }

    QIconEngine* clone() const override { return new LineIconEngine(*this); }

private:
    QColor colourFor(QIcon::Mode mode) const {
        const QPalette palette = QGuiApplication::palette();
        if (mode == QIcon::Disabled) return palette.color(QPalette::Disabled, QPalette::ButtonText);
        return m_fixed.isValid() ? m_fixed : palette.color(QPalette::ButtonText);
    }

    QString m_name;
    QColor m_fixed;
    QByteArray m_svg;
};

}  // namespace

QIcon lineIcon(const QString& name) {
    return QIcon(new LineIconEngine(name, {}));
}
QIcon lineIcon(const QString& name, const QColor& colour) {
    return QIcon(new LineIconEngine(name, colour));
}
QIcon applicationIcon() {
    return QIcon(":/icons/stepscope.svg");
}

}  // namespace stepscope
