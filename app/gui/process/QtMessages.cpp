#include "app/gui/process/QtMessages.h"

#include <QMetaObject>
#include <QStringList>
#include <QtGlobal>
#include <mutex>

namespace stepscope {
namespace {

constexpr qsizetype kMostWarnings = 100;    // different ones; who warns of more than that has said enough
constexpr qsizetype kLongestWarning = 500;  // characters

std::mutex g_warningMutex;  // of the two below
QtMessages* g_messages = nullptr;
QStringList g_warnings;  // that were told
QtMessageHandler g_beforeMessages = nullptr;

QString warningOf(const QString& text) {
    QString plain = text.simplified();
    if (plain.size() > kLongestWarning) plain = plain.left(kLongestWarning) + "…";
    return "Qt warns: " + plain + (plain.endsWith('.') || plain.endsWith('!') || plain.endsWith('?') || plain.endsWith("…") ? "" : ".");
}

void hearMessage(QtMsgType type, const QMessageLogContext& context, const QString& text) {
    thread_local bool hearing = false;  // what telling one causes is not told in turn
    if ((type != QtWarningMsg && type != QtCriticalMsg) || hearing) {
        if (g_beforeMessages != nullptr) g_beforeMessages(type, context, text);
        return;
    }
    hearing = true;
    {
        const std::lock_guard telling(g_warningMutex);
        const QString sentence = warningOf(text);
        if (g_messages != nullptr && g_warnings.size() < kMostWarnings && !g_warnings.contains(sentence)) {
            g_warnings << sentence;
            QMetaObject::invokeMethod(
                g_messages, [messages = g_messages, sentence] { Q_EMIT messages->warned(sentence); }, Qt::QueuedConnection);
        }
    }
    hearing = false;
}

}  // namespace

QtMessages::QtMessages() {
    {
        const std::lock_guard making(g_warningMutex);
        g_messages = this;
        g_warnings.clear();
    }
    g_beforeMessages = qInstallMessageHandler(hearMessage);
}

QtMessages::~QtMessages() {
    qInstallMessageHandler(g_beforeMessages);
    const std::lock_guard leaving(g_warningMutex);
    g_messages = nullptr;
}

}  // namespace stepscope
