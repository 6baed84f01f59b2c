#include "app/gui/process/Options.h"

#include <QCommandLineParser>
#include <QFileInfo>
#include <cmath>
#include <utility>

#include "app/workbench/engine/EngineQuestions.h"
#include "app/workbench/engine/EngineWords.h"
#include "core/base/Utf8.h"

namespace stepscope {
namespace {

ParsedOptions wrong(const QString& sentence) {
    return {std::nullopt, sentence, 2};
}

}  // namespace

ParsedOptions parseOptions(const QStringList& arguments) {
    QCommandLineParser parser;
    parser.setApplicationDescription("Stepscope trains a GPT and shows what each speed optimisation does on this machine.");
    const QCommandLineOption help({"h", "help"}, "Show this and leave."), version({"v", "version"}, "Show the version and leave."),
        demo("demo", "Start the tiny-cpu run at once."), set("set", "With --demo: a setting or switch; may be repeated.", "KEY=VALUE"),
        database("db", "Database of sessions.", "FILE"), session("session", "Open a stored session as a replay.", "ID"),
        theme("theme", "light, dark or system.", "THEME"), screenshot("screenshot", "Save a picture of the window and leave.", "FILE"),
        after("after", "Seconds until that picture is taken (5).", "SECONDS"), size("size", "Size of the window.", "WIDTHxHEIGHT"),
        engine("engine", "Train in a process of its own: if it is killed, or a driver takes it down, the window stays."),
        engineOn("engine-on", "Train on another machine, by your own ssh: ssh HOST stepscope-cli engine --detach. It asks for no password.", "HOST"),
        engineCommand("engine-command", "The same by a command of your own, parted into words as a shell would: 'ssh rack bin/stepscope-cli engine'.",
                      "WORDS"),
        canShow("can-show", "Leave at once: with 0 where a window can be opened, with 3 and a sentence where not.");
    parser.addPositionalArgument("FILE", "Traces and logs to import and show.", "[FILE...]");
    parser.addOptions({help, version, demo, set, database, session, theme, screenshot, after, size, engine, engineOn, engineCommand, canShow});

    const QString hint = " stepscope --help lists the options.";
    if (!parser.parse(arguments)) {
        QString problem = parser.errorText().trimmed();
        if (!problem.endsWith('.')) problem += '.';
        return wrong(problem + hint);
    }
    // Asked before there is an application, of which Qt would know its name.
    if (parser.isSet(help)) return {std::nullopt, parser.helpText().replace("<executable_name>", "stepscope"), 0};
    if (parser.isSet(version)) return {std::nullopt, QString("stepscope %1\n").arg(STEPSCOPE_VERSION), 0};

    Options options;
    options.files = parser.positionalArguments();
    for (const QString& file : options.files)
        if (!QFileInfo::exists(file)) return wrong(QString("\"%1\" is neither an option nor a file that can be imported.").arg(file) + hint);
    options.demo = parser.isSet(demo);
    options.engine = parser.isSet(engine);
    if (parser.isSet(engine) + parser.isSet(engineOn) + parser.isSet(engineCommand) > 1)
        return wrong("--engine, --engine-on and --engine-command exclude each other: each run has one engine." + hint);
    for (const QCommandLineOption* option : {&engineOn, &engineCommand}) {
        if (!parser.isSet(*option)) continue;
        const QString value = parser.value(*option);
        auto words = option == &engineOn ? sshWords(value.toStdString()) : wordsOf(value.toStdString());
        options.engineOption = QString("--%1 %2").arg(option->names().first(), QString::fromStdString(printable(value.toStdString())));
        if (!words) return wrong(QString("--%1: %2").arg(option->names().first(), QString::fromStdString(words.error().sentence)));
        options.engineWords = std::move(*words);
    }
    options.canShow = parser.isSet(canShow);
    options.settings = parser.values(set);
    for (const QString& setting : options.settings)
        if (setting.indexOf('=') < 1) return wrong(QString("--set takes KEY=VALUE, not \"%1\".").arg(setting));
    if (!options.settings.isEmpty() && !options.demo) return wrong("--set means something only together with --demo." + hint);
    options.database = parser.value(database);
    if (parser.isSet(database) && options.database.isEmpty()) return wrong("--db needs the name of a file." + hint);
    if (parser.isSet(session)) {
        bool whole = false;
        options.session = parser.value(session).toLongLong(&whole);
        if (!whole || options.session < 1)
            return wrong(QString("--session cannot be \"%1\"; it takes the number of a stored session.").arg(parser.value(session)));
    }
    if (!options.files.isEmpty() && (options.session > 0 || options.demo))
        return wrong("FILE excludes --session and --demo: what is imported is shown." + hint);
    if (options.session > 0 && options.demo) return wrong("--session and --demo exclude each other: a replay or a new run." + hint);
    if (parser.isSet(theme)) {
        const QString word = parser.value(theme);
        if (word == "light")
            options.theme = Theme::Light;
        else if (word == "dark")
            options.theme = Theme::Dark;
        else if (word == "system")
            options.theme = Theme::System;
        else
            return wrong(QString("--theme cannot be \"%1\"; it takes light, dark or system.").arg(word));
    }
    options.screenshot = parser.value(screenshot);
    if (parser.isSet(screenshot) && options.screenshot.isEmpty()) return wrong("--screenshot needs the name of a file." + hint);
    if (parser.isSet(after)) {
        bool number = false;
        options.afterSeconds = parser.value(after).toDouble(&number);
        if (!number || !std::isfinite(options.afterSeconds) || options.afterSeconds < 0 || options.afterSeconds > 86'400)
            return wrong(QString("--after cannot be \"%1\"; it takes seconds from 0 to 86400.").arg(parser.value(after)));
        if (options.screenshot.isEmpty()) return wrong("--after means something only together with --screenshot FILE." + hint);
    }
    if (parser.isSet(size)) {
        const QStringList sides = parser.value(size).split('x');
        if (sides.size() == 2) options.size = QSize(sides[0].toInt(), sides[1].toInt());
        if (options.size.width() < 800 || options.size.height() < 600 || options.size.width() > 16'000 || options.size.height() > 16'000)
            return wrong(QString("--size cannot be \"%1\"; it takes WIDTHxHEIGHT from 800x600 on, such as 1280x800.").arg(parser.value(size)));
    }
    return {options, {}, 0};
}

QString findEngine(Options& options) {
    if (options.engineWords.empty()) return {};
    auto found = EngineQuestions::findOut(options.engineWords);
    if (found) {
        options.elsewhere = std::move(*found);
        return {};
    }
    // Said within a sentence: "The engine ended …" goes on in small letters.
    QString why = QString::fromStdString(found.error().sentence);
    if (why.size() > 1 && why[1].isLower()) why[0] = why[0].toLower();
    return QString("%1 cannot be used: %2").arg(options.engineOption, why);
}

}  // namespace stepscope
