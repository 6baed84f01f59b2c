#include "widgets/style/WidgetPicture.h"

#include <QAction>
#include <QBuffer>
#include <QFileDialog>
#include <QFileInfo>
#include <QImage>
#include <QMessageBox>
#include <QPainter>
#include <QSaveFile>
#include <QSvgGenerator>
#include <QWidget>

namespace stepscope {
namespace {

constexpr int kWidgetPictureRatio = 2;

QByteArray widgetPng(QWidget& widget) {
    QImage image(widget.size() * kWidgetPictureRatio, QImage::Format_RGB32);
    image.setDevicePixelRatio(kWidgetPictureRatio);
    image.fill(widget.palette().color(QPalette::Window));
    widget.render(&image);
    return pngBytes(image);
}

QByteArray widgetSvg(QWidget& widget) {
    return svgBytes(widget, widget.accessibleName(), {}, [&widget](QPainter& painter) { widget.render(&painter); });
}

void askWhereTo(QWidget& widget, const QString& name, const QString& kind) {
    auto* dialog = new QFileDialog(&widget, QString("Save as %1").arg(kind.toUpper()), name + '.' + kind,
                                   kind == "svg" ? QString("Drawing (*.svg)") : QString("Picture (*.png)"));
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setAcceptMode(QFileDialog::AcceptSave);
    dialog->setDefaultSuffix(kind);
    QObject::connect(dialog, &QFileDialog::fileSelected, &widget, [&widget](const QString& path) {
        const auto saved = saveWidgetPicture(widget, path);
        if (saved) return;
        auto* told = new QMessageBox(QMessageBox::Warning, "The picture is not saved", QString::fromStdString(saved.error().sentence),
                                     QMessageBox::Ok, &widget);
        told->setAttribute(Qt::WA_DeleteOnClose);
        told->open();
    });
    dialog->open();
}

}  // namespace

QByteArray pngBytes(const QImage& image) {
    QByteArray bytes;
    QBuffer buffer(&bytes);
    buffer.open(QIODevice::WriteOnly);
    image.save(&buffer, "PNG");
    return bytes;
}

QByteArray svgBytes(const QWidget& widget, const QString& title, const QString& description, const std::function<void(QPainter&)>& paint) {
    QByteArray bytes;
    QBuffer buffer(&bytes);
    buffer.open(QIODevice::WriteOnly);
    QSvgGenerator generator;
    generator.setOutputDevice(&buffer);
    generator.setSize(widget.size());
    generator.setViewBox(QRect(QPoint(), widget.size()));
    generator.setResolution(widget.logicalDpiX());  // points become as many pixels as on the screen
    generator.setTitle(title);
    if (!description.isEmpty()) generator.setDescription(description);
    QPainter painter(&generator);
    paint(painter);
    painter.end();
    return bytes;
}

Result<void> writePicture(const QString& path, const QByteArray& bytes) {
    QSaveFile file(path);
    if (!file.open(QIODevice::WriteOnly) || file.write(bytes) != bytes.size() || !file.commit())
        return makeError(ErrorCode::Io, QString("%1 could not be written: %2. Choose another folder.").arg(path, file.errorString()).toStdString());
    return {};
}

Result<void> saveWidgetPicture(QWidget& widget, const QString& path) {
    const QString ending = QFileInfo(path).suffix().toLower();
    if (ending != "png" && ending != "svg")
        return makeError(ErrorCode::BadInput, QString("%1 ends in neither .png nor .svg; choose one of them.").arg(path).toStdString());
    const QByteArray bytes = ending == "png" ? widgetPng(widget) : widgetSvg(widget);
    return writePicture(path, bytes);
}

void offerPicture(QWidget& widget, const QString& name) {
    widget.setContextMenuPolicy(Qt::ActionsContextMenu);
    for (const char* kind : {"png", "svg"}) {
        auto* action = new QAction(QString("Save as %1…").arg(QString(kind).toUpper()), &widget);
        QObject::connect(action, &QAction::triggered, &widget, [&widget, name, kind = QString(kind)] { askWhereTo(widget, name, kind); });
        widget.addAction(action);
    }
}

}  // namespace stepscope
