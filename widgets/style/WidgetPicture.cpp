#include "widgets/style/WidgetPicture.h"

#include <QAction>
#include <QBuffer>
#include <QClipboard>
#include <QFileDialog>
#include <QFileInfo>
#include <QGuiApplication>
#include <QImage>
#include <QMessageBox>
#include <QMimeData>
#include <QPainter>
#include <QSaveFile>
#include <QSvgGenerator>
#include <QWidget>
#include <utility>

namespace stepscope {
namespace {

constexpr int kWidgetPictureRatio = 2;

QImage widgetImage(QWidget& widget) {
    QImage image(widget.size() * kWidgetPictureRatio, QImage::Format_RGB32);
    image.setDevicePixelRatio(kWidgetPictureRatio);
    image.fill(widget.palette().color(QPalette::Window));
    widget.render(&image);
    return image;
}

QByteArray widgetSvg(QWidget& widget) {
    return svgBytes(widget, widget.accessibleName(), {}, [&widget](QPainter& painter) { widget.render(&painter); });
}

// save: to that path.
void askWhereTo(QWidget& widget, const QString& name, const QString& kind, const std::function<Result<void>(const QString& path)>& save) {
    const QString filter = kind == "svg" ? QString("Drawing (*.svg)") : kind == "csv" ? QString("Values (*.csv)") : QString("Picture (*.png)");
    auto* dialog = new QFileDialog(&widget, QString("Save as %1").arg(kind.toUpper()), name + '.' + kind, filter);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setAcceptMode(QFileDialog::AcceptSave);
    dialog->setDefaultSuffix(kind);
    QObject::connect(dialog, &QFileDialog::fileSelected, &widget, [&widget, save](const QString& path) {
        const auto saved = save(path);
        if (saved) return;
        auto* told =
            new QMessageBox(QMessageBox::Warning, "Nothing is saved", QString::fromStdString(saved.error().sentence), QMessageBox::Ok, &widget);
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
    const QByteArray bytes = ending == "png" ? pngBytes(widgetImage(widget)) : widgetSvg(widget);
    return writePicture(path, bytes);
}

std::unique_ptr<QMimeData> widgetClipboardData(QWidget& widget) {
    auto data = std::make_unique<QMimeData>();
    data->setImageData(widgetImage(widget));
    data->setData("image/svg+xml", widgetSvg(widget));
    return data;
}

void offerPicture(QWidget& widget, const QString& name, std::function<QString()> csv) {
    widget.setContextMenuPolicy(Qt::ActionsContextMenu);
    const auto offer = [&widget](const QString& words, const std::function<void()>& what) {
        auto* action = new QAction(words, &widget);
        QObject::connect(action, &QAction::triggered, &widget, what);
        widget.addAction(action);
    };
    offer("Copy the picture", [&widget] { QGuiApplication::clipboard()->setMimeData(widgetClipboardData(widget).release()); });  // which owns it then
    if (csv) offer("Copy the values", [csv] { QGuiApplication::clipboard()->setText(csv()); });
    for (const char* kind : {"png", "svg"})
        offer(QString("Save as %1…").arg(QString(kind).toUpper()), [&widget, name, kind = QString(kind)] {
            askWhereTo(widget, name, kind, [&widget](const QString& path) { return saveWidgetPicture(widget, path); });
        });
    if (csv)
        offer("Save as CSV…",
              [&widget, name, csv] { askWhereTo(widget, name, "csv", [csv](const QString& path) { return writePicture(path, csv().toUtf8()); }); });
}

}  // namespace stepscope
