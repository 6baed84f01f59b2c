// main() of the widget tests: no display, our own look, and settings that belong to this process alone.
#include <gtest/gtest.h>

#include <QApplication>
#include <QSettings>
#include <QTemporaryDir>
#include <QTimer>

#include "widgets/style/Theme.h"

namespace {

// A window that closes tells the application to exit. Outside of exec() nobody hears that, but each event loop that is begun later (a menu's, a
// dialog's, a spy's) ends at once; it is forgotten with the next exec(). So a test that closes a window would break those that come after it.
class ForgetsExit final : public testing::EmptyTestEventListener {
    void OnTestStart(const testing::TestInfo&) override {
        QTimer::singleShot(0, qApp, [] { QCoreApplication::exit(0); });
        QCoreApplication::exec();
    }
};

}  // namespace

int main(int argc, char** argv) {
    if (!qEnvironmentVariableIsSet("QT_QPA_PLATFORM")) qputenv("QT_QPA_PLATFORM", "offscreen");
    testing::InitGoogleTest(&argc, argv);
    QCoreApplication::setOrganizationName("stepscope");
    QCoreApplication::setApplicationName("stepscope-tests");
    const QTemporaryDir settings;
    QSettings::setPath(QSettings::NativeFormat, QSettings::UserScope, settings.path());
    QApplication application(argc, argv);
    stepscope::applyStyle(application, stepscope::Theme::Light);
    testing::UnitTest::GetInstance()->listeners().Append(new ForgetsExit);
    return RUN_ALL_TESTS();
}
