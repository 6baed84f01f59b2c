// charts_gallery FOLDER: saves the page Live as PNG files, empty, young, running, finished, zoomed and long, light and dark,
// at the sizes its area has in a 1280x800 and a 1920x1080 window. A person looks at them; nothing is asserted here.
#include <QApplication>
#include <QDir>
#include <QThread>
#include <cstdio>
#include <functional>

#include "SyntheticRun.h"
#include "widgets/charts/ChartView.h"
#include "widgets/charts/LivePage.h"
#include "widgets/charts/ViewRange.h"
#include "widgets/style/Theme.h"

using namespace stepscope;

namespace {

void settle(LivePage& page) {
    for (int i = 0; i < 60; ++i) {
        QCoreApplication::processEvents();
        page.tick();
        QThread::msleep(2);
    }
    QCoreApplication::processEvents();
}

void save(const QString& folder, const QString& name, QSize size, const std::function<void(LivePage&)>& prepare) {
    LivePage page;
    page.resize(size);
    page.show();
    prepare(page);
    settle(page);
    const QString path = folder + '/' + name + ".png";
    page.grab().save(path);
    std::printf("%s\n", qPrintable(path));
}

}  // namespace

int main(int argc, char** argv) {
    QApplication application(argc, argv);
    if (argc != 2) {
        std::fprintf(stderr, "usage: charts_gallery FOLDER\n");
        return 2;
    }
    const QString folder = QString::fromLocal8Bit(argv[1]);
    QDir().mkpath(folder);
    const QSize small(700, 560), large(1340, 840);

    for (const Theme theme : {Theme::Light, Theme::Dark}) {
        applyStyle(application, theme);
        const QString tint = theme == Theme::Light ? "light" : "dark";
        for (const QSize size : {small, large}) {
            const QString name = tint + '-' + QString::number(size.width());
            save(folder, name + "-running", size, [](LivePage& page) { page.setHistory(SyntheticRun{}.history()); });
        }
        save(folder, tint + "-hover", small, [](LivePage& page) {
            SyntheticRun run;
            run.gpu = true;
            page.setHistory(run.history());
            page.showStep(700);
        });
    }
    applyStyle(application, Theme::Light);
    save(folder, "empty", small, [](LivePage& page) { page.setPlannedConfig(SyntheticRun{}.config()); });
    save(folder, "first-step", small, [](LivePage& page) {
        SyntheticRun run;
        run.steps = 1;
        page.setHistory(run.history());
    });
    save(folder, "young", small, [](LivePage& page) {
        SyntheticRun run;
        run.steps = 60;
        page.setHistory(run.history());
    });
    save(folder, "finished", small, [](LivePage& page) {
        SyntheticRun run;
        run.steps = 2000;
        run.state = RunState::Finished;
        page.setHistory(run.history());
    });
    for (const QSize size : {small, large})
        save(folder, "fp16-" + QString::number(size.width()), size, [](LivePage& page) {
            SyntheticRun run;
            run.fp16 = true;
            page.setHistory(run.history());
        });
    save(folder, "log-log-tokens", small, [](LivePage& page) {
        page.setHistory(SyntheticRun{}.history());
        QByteArray layout;
        QDataStream out(&layout, QIODevice::WriteOnly);
        out << quint8(1) << qint32(1) << true << true;
        page.restoreLayout(layout);
    });
    save(folder, "wall-time", small, [](LivePage& page) {
        page.setHistory(SyntheticRun{}.history());
        QByteArray layout;
        QDataStream out(&layout, QIODevice::WriteOnly);
        out << quint8(1) << qint32(2) << false << false;
        page.restoreLayout(layout);
    });
    save(folder, "zoomed", small, [](LivePage& page) {
        page.setHistory(SyntheticRun{}.history());
        page.range().zoom(0.05, 0.52);
    });
    for (const Theme theme : {Theme::Light, Theme::Dark}) {
        applyStyle(application, theme);
        const QString tint = theme == Theme::Light ? "light" : "dark";
        save(folder, tint + "-flips", small, [](LivePage& page) {
            SyntheticRun run;
            run.steps = run.planned;
            run.flips = 24;
            page.setHistory(run.history());
            page.showFlips();
        });
        save(folder, tint + "-statistics", small, [](LivePage& page) {
            page.setHistory(SyntheticRun{}.history());
            page.select(300, 700);
        });
        save(folder, tint + "-alone", small, [](LivePage& page) {
            SyntheticRun run;
            run.slowSteps = 3;
            page.setHistory(run.history());
            page.enlarge(3);
        });
    }
    applyStyle(application, Theme::Light);
    save(folder, "flags", small, [](LivePage& page) {
        SyntheticRun run;
        run.steps = run.planned;
        run.flips = 24;
        page.setHistory(run.history());
    });
    save(folder, "log-y", small, [](LivePage& page) {
        page.setHistory(SyntheticRun{}.history());
        for (std::size_t i = 0; i < LivePage::kCharts; ++i) page.chart(i).setLogarithmicY(true);
    });
    save(folder, "hidden-lines", small, [](LivePage& page) {
        page.setHistory(SyntheticRun{}.history());
        page.chart(0).setHidden("train", true);
        page.chart(3).setHidden("backward", true);
    });
    // What the page has in a window of 1024 x 640, and of 1920 x 1080 at factor 2, with and without the panels beside it.
    for (const QSize size : {QSize(456, 400), QSize(704, 400), QSize(392, 300), QSize(960, 300)})
        save(folder, QString("small-%1x%2").arg(size.width()).arg(size.height()), size,
             [](LivePage& page) { page.setHistory(SyntheticRun{}.history()); });
    save(folder, "long", large, [](LivePage& page) {
        SyntheticRun run;
        run.steps = 100'000;
        run.planned = 120'000;
        page.setHistory(run.history());
    });
    return 0;
}
