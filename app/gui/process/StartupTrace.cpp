#include "app/gui/process/StartupTrace.h"

#include <QEvent>
#include <QTimer>
#include <QWidget>
#include <chrono>
#include <cstdio>

#include "app/workbench/process/StandardError.h"

namespace stepscope {
namespace {

const auto g_begin = std::chrono::steady_clock::now();

class FirstPaint final : public QObject {
public:
    explicit FirstPaint(QWidget& window) : QObject(&window) { window.installEventFilter(this); }

    bool eventFilter(QObject* watched, QEvent* event) override {
        if (event->type() == QEvent::Paint) {
            watched->removeEventFilter(this);
            // The children are painted with the window, in the same turn of the event loop; the next turn comes after.
            QTimer::singleShot(0, this, [this] {
                const std::chrono::duration<double, std::milli> taken = std::chrono::steady_clock::now() - g_begin;
                std::fprintf(standard_error::own(), "shown %.1f\n", taken.count());
                deleteLater();
            });
        }
        return false;
    }
};

}  // namespace

void traceStartup(QWidget& window) {
    if (qEnvironmentVariableIsSet("STEPSCOPE_STARTUP_TRACE")) new FirstPaint(window);
}

}  // namespace stepscope
