// main() of the widget tests: no display, our own look, and settings that belong to this process alone.
#include <gtest/gtest.h>

#include <QApplication>
#include <QSettings>
#include <QTemporaryDir>

#include "widgets/style/Theme.h"

int main(int argc, char** argv) {
    if (!qEnvironmentVariableIsSet("QT_QPA_PLATFORM")) qputenv("QT_QPA_PLATFORM", "offscreen");
    testing::InitGoogleTest(&argc, argv);
    QCoreApplication::setOrganizationName("stepscope");
    QCoreApplication::setApplicationName("stepscope-tests");
    const QTemporaryDir settings;
    QSettings::setPath(QSettings::NativeFormat, QSettings::UserScope, settings.path());
    QApplication application(argc, argv);
    stepscope::applyStyle(application, stepscope::Theme::Light);
    return RUN_ALL_TESTS();
}
