// What a widget draws, as a picture and as a drawing in a file, from the menu that it has for that.
#include <gtest/gtest.h>

#include <QAction>
#include <QFile>
#include <QFileDialog>
#include <QImage>
#include <QPainter>
#include <QTemporaryDir>
#include <QTest>
#include <QWidget>

#include "widgets/style/WidgetPicture.h"
#include "widgets/timeline/TimelineView.h"
#include "widgets/timeline/panes/FlameView.h"

namespace stepscope {
namespace {

class RedSquare : public QWidget {
protected:
    void paintEvent(QPaintEvent*) override {
        QPainter painter(this);
        painter.fillRect(QRect(10, 10, 20, 20), Qt::red);
    }
};

struct WidgetPicture : ::testing::Test {
    WidgetPicture() { widget.resize(60, 40); }
    QByteArray contentOf(const QString& name) const {
        QFile file(folder.filePath(name));
        return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
    }
    QTemporaryDir folder;
    RedSquare widget;
};

TEST_F(WidgetPicture, IsAPictureOfTwiceThePixelsOrADrawing) {
    ASSERT_TRUE(saveWidgetPicture(widget, folder.filePath("x.png")));
    const QImage image(folder.filePath("x.png"));
    EXPECT_EQ(image.size(), QSize(120, 80));
    EXPECT_EQ(image.pixelColor(40, 40), QColor(Qt::red));
    EXPECT_NE(image.pixelColor(4, 4), QColor(Qt::red));
    ASSERT_TRUE(saveWidgetPicture(widget, folder.filePath("x.SVG")));
    EXPECT_TRUE(contentOf("x.SVG").contains("<svg"));
    EXPECT_TRUE(contentOf("x.SVG").contains("#ff0000"));
}

TEST_F(WidgetPicture, SaysWhatIsWrongWithAName) {
    EXPECT_NE(saveWidgetPicture(widget, folder.filePath("x.gif")).error().sentence.find("neither .png nor .svg"), std::string::npos);
    EXPECT_NE(saveWidgetPicture(widget, folder.filePath("no/x.png")).error().sentence.find("Choose another folder"), std::string::npos);
}

TEST_F(WidgetPicture, IsSavedFromTheMenuOfWhatDrawsItself) {
    TimelineView timeline;
    FlameView flame;
    EXPECT_EQ(timeline.actions().size(), 2);
    EXPECT_EQ(flame.actions().size(), 2);
    offerPicture(widget, "square");
    ASSERT_EQ(widget.actions().size(), 2);
    widget.show();
    widget.actions().front()->trigger();
    auto* dialog = widget.findChild<QFileDialog*>();
    ASSERT_NE(dialog, nullptr);
    dialog->close();
    Q_EMIT dialog->fileSelected(folder.filePath("square.png"));
    EXPECT_EQ(QImage(folder.filePath("square.png")).size(), QSize(120, 80));
}

}  // namespace
}  // namespace stepscope
