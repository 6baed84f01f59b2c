// The window's command line: --demo with --set, --db, --session, --theme, --screenshot with --after, --size, --engine, --engine-on,
// --engine-command, --can-show, and files to import. Read before Qt looks for a display, so that a wrong option and --help answer on any machine.
// Called by main().
#pragma once
#include <QSize>
#include <QString>
#include <QStringList>
#include <optional>
#include <string>
#include <vector>

#include "app/workbench/engine/EngineElsewhere.h"
#include "widgets/style/Theme.h"

namespace stepscope {

struct Options {
    bool demo = false;
    QStringList settings;                      // KEY=VALUE, what the demonstration runs with beyond its preset
    QString database;                          // empty = the default one
    QString commandLine;                       // its program, of which other workers are processes; empty = the one beside this program
    bool engine = false;                       // runs are trained by a process of the command line's program,
    std::vector<std::string> engineWords;      //   or by one that these words start, on another machine
    QString engineOption;                      // the option that gave them, with its value, for sentences
    std::optional<EngineElsewhere> elsewhere;  // who answers to them; asked by main()
    qint64 session = 0;                        // > 0: opened as a replay
    std::optional<Theme> theme;
    QString screenshot;  // file; empty = none
    double afterSeconds = 5;
    QStringList files;     // to import
    bool canShow = false;  // only say by the exit status whether a window can be opened
    QSize size;            // of the window; empty = as it was last, or a good part of the screen
};

// What main() does: go on with `options`, or print `text` and leave with `exitCode`.
struct ParsedOptions {
    std::optional<Options> options;
    QString text;
    int exitCode = 0;  // 2 = wrong option, text is one sentence
};

ParsedOptions parseOptions(const QStringList& arguments);

// Of options with engineWords: starts them, hears who answers and keeps that in `elsewhere`. Why nobody does, in one sentence; empty: somebody did.
// Waits for the other machine, so before there is a window.
QString findEngine(Options& options);

}  // namespace stepscope
