#include "app/gui/process/LostDisplay.h"

#include <unistd.h>

#include <QtGlobal>
#include <cstdio>
#include <cstdlib>

#include "app/gui/wiring/RunController.h"
#include "app/workbench/process/StandardError.h"

namespace stepscope {
namespace {

RunController* g_runs = nullptr;
QtMessageHandler g_former = nullptr;

void leave() {
    if (g_runs == nullptr) return;
    const auto sentence = [](RunController::Left left) {
        switch (left) {
            case RunController::Left::NoRun:
                return "The display is gone.\n";
            case RunController::Left::Kept:
                return "The display is gone. The run was stopped and kept with a checkpoint; it can be resumed.\n";
            case RunController::Left::NotKept:
                return "The display is gone. The run was stopped, and its newest step could not be kept with a checkpoint.\n";
        }
        return "";
    };
    std::fputs(sentence(g_runs->keepAndStop()), standard_error::own());
    standard_error::passOnRest();  // X11's library says why, to a log that is gone with the window
    // Nothing that main() has made is taken down: it is still in use above us on the stack.
    _exit(1);
}

// Qt says it just before it calls exit(), for X11 and for Wayland. By the time exit() comes to a handler of ours, it has destroyed what LibTorch
// made since and the trainer's thread still uses. Qt gives neither a signal nor a code for it, so it is known by its words: "The X11 connection
// broke", "The Wayland connection broke".
void watch(QtMsgType type, const QMessageLogContext& context, const QString& text) {
    if (g_former != nullptr)
        g_former(type, context, text);
    else
        std::fprintf(standard_error::own(), "%s\n", qPrintable(qFormatLogMessage(type, context, text)));
    if (text.contains("connection broke")) leave();
}

}  // namespace

LostDisplay::LostDisplay(RunController& runs) {
    g_runs = &runs;
    g_former = qInstallMessageHandler(watch);
    std::atexit(leave);  // an end in other words: better late than not at all
}

LostDisplay::~LostDisplay() {
    g_runs = nullptr;
    qInstallMessageHandler(g_former);
}

}  // namespace stepscope
