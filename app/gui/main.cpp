// The window's program. The engine's first words come before anything else: the host allocator and the CUDA plug-in must be in
// place before LibTorch is touched.
#include <QSettings>
#include <cstdio>

#include "app/gui/Workplace.h"
#include "app/gui/process/Application.h"
#include "app/gui/process/Display.h"
#include "app/gui/process/LoopTrace.h"
#include "app/gui/process/LostDisplay.h"
#include "app/gui/process/QtMessages.h"
#include "app/workbench/Workbench.h"
#include "app/workbench/process/EarlyEnd.h"
#include "app/workbench/process/LibraryLines.h"
#include "app/workbench/process/LibraryWarnings.h"
#include "app/workbench/process/StandardError.h"
#include "widgets/style/SystemTheme.h"
#include "widgets/style/Theme.h"

namespace {

stepscope::Theme storedTheme() {
    const QString word = QSettings().value("window/theme").toString();
    return word == "light" ? stepscope::Theme::Light : word == "dark" ? stepscope::Theme::Dark : stepscope::Theme::System;
}

QStringList listOf(int argc, char** argv) {
    QStringList all;
    for (int i = 0; i < argc; ++i) all << QString::fromLocal8Bit(argv[i]);
    return all;
}

}  // namespace

int main(int argc, char** argv) {
    stepscope::early_end::begun();
    stepscope::initialiseEngine();

    QCoreApplication::setOrganizationName("stepscope");
    QCoreApplication::setApplicationName("stepscope");
    QCoreApplication::setApplicationVersion(STEPSCOPE_VERSION);
    stepscope::ParsedOptions parsed = stepscope::parseOptions(listOf(argc, argv));
    if (!parsed.options) {
        std::fprintf(parsed.exitCode == 0 ? stdout : stepscope::standard_error::own(), "%s\n", qPrintable(parsed.text.trimmed()));
        return parsed.exitCode;
    }
    if (const auto usable = stepscope::checkEnvironment(); !usable) {
        std::fprintf(stepscope::standard_error::own(), "%s\n", usable.error().sentence.c_str());
        return 3;
    }
    if (const QString why = stepscope::whyNoDisplay(); !why.isEmpty()) {
        std::fprintf(stepscope::standard_error::own(), "%s\n", qPrintable(why));
        return 3;
    }
    if (parsed.options->canShow) return 0;
    if (const QString why = stepscope::findEngine(*parsed.options); !why.isEmpty()) {
        constexpr int kWrongOption = 2;
        std::fprintf(stepscope::standard_error::own(), "%s\n", qPrintable(why));
        return kWrongOption;
    }

    stepscope::QtMessages messages;  // outlives the window, which may cause some to its end
    stepscope::Application application(argc, argv);
    const stepscope::LibraryWarningListener warnings([&messages](const std::string& sentence) { messages.tell(QString::fromStdString(sentence)); });
    const stepscope::LibraryLines lines;
    // The desktop's answer comes later; until then its last one holds, so that nothing flashes.
    if (const QVariant last = QSettings().value("window/systemDark"); last.isValid()) stepscope::followSystem(application, last.toBool());
    const stepscope::SystemTheme system;
    QObject::connect(&system, &stepscope::SystemTheme::told, &application, [&application](bool dark) {
        QSettings().setValue("window/systemDark", dark);
        stepscope::followSystem(application, dark);
    });
    applyStyle(application, parsed.options->theme.value_or(storedTheme()));
    stepscope::Workplace workplace(*parsed.options);
    QObject::connect(&messages, &stepscope::QtMessages::warned, &workplace, &stepscope::Workplace::warn);
    const stepscope::LoopTrace loopTrace(workplace.window().experiment());
    const stepscope::LostDisplay lostDisplay(workplace.runs());
    workplace.open();
    return stepscope::Application::exec();
}
