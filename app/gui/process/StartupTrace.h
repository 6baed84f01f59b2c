// StartupTrace: with STEPSCOPE_STARTUP_TRACE set, prints "shown <ms>" to stderr once the window has been painted on the screen for the
// first time; ms since the program's own first instruction. Read by tests/bench/startup. GUI thread.
#pragma once
#include <QObject>

class QWidget;

namespace stepscope {

// Does nothing where the variable is not set. The trace belongs to the window.
void traceStartup(QWidget& window);

}  // namespace stepscope
