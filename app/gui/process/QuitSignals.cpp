#include "app/gui/process/QuitSignals.h"

#include <fcntl.h>
#include <unistd.h>

#include <QSocketNotifier>
#include <array>
#include <csignal>

namespace stepscope {
namespace {

std::array<int, 2> g_pipe{-1, -1};

void remember(int) {
    const char byte = 1;
    // A full pipe means that enough has been asked already.
    [[maybe_unused]] const auto written = ::write(g_pipe[1], &byte, 1);
}

}  // namespace

QuitSignals::QuitSignals(QObject* parent) : QObject(parent) {
    if (::pipe2(g_pipe.data(), O_CLOEXEC | O_NONBLOCK) != 0) return;  // then the signals end the program as usual
    auto* notifier = new QSocketNotifier(g_pipe[0], QSocketNotifier::Read, this);
    connect(notifier, &QSocketNotifier::activated, this, [this] {
        std::array<char, 16> bytes;
        while (::read(g_pipe[0], bytes.data(), bytes.size()) > 0) continue;
        Q_EMIT quitRequested();
    });
    std::signal(SIGINT, remember);
    std::signal(SIGTERM, remember);
    if (std::signal(SIGHUP, remember) == SIG_IGN)
        std::signal(SIGHUP, SIG_IGN);  // nohup means it
    else
        m_hangsUp = true;
}

QuitSignals::~QuitSignals() {
    std::signal(SIGINT, SIG_DFL);
    std::signal(SIGTERM, SIG_DFL);
    if (m_hangsUp) std::signal(SIGHUP, SIG_DFL);
    for (int& end : g_pipe) {
        if (end >= 0) ::close(end);
        end = -1;
    }
}

}  // namespace stepscope
