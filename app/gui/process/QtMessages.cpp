#include "app/gui/process/QtMessages.h"

#include <QMetaObject>
#include <QStringList>
#include <QtGlobal>
#include <cstdio>
#include <mutex>
#include <utility>

#include "app/workbench/process/StandardError.h"

namespace stepscope {
namespace {

constexpr qsizetype kMostWarnings = 100;    // different ones; who warns of more than that has said enough
constexpr qsizetype kLongestWarning = 500;  // characters

std::mutex g_warningMutex;  // of the two below, and of what is not told yet
QtMessages* g_messages = nullptr;
QStringList g_warnings;  // that were told
QtMessageHandler g_beforeMessages = nullptr;

QString warningOf(const QString& text) {
    QString plain = text.simplified();
    if (plain.size() > kLongestWarning) plain = plain.left(kLongestWarning) + "…";
    return "Qt warns: " + plain + (plain.endsWith('.') || plain.endsWith('!') || plain.endsWith('?') || plain.endsWith("…") ? "" : ".");
}

// Where nobody logged in, as in most containers, Qt takes a folder of its own, and nothing of the window depends on which.
bool isOfNoUse(const QString& text) {
    return text.startsWith("QStandardPaths: XDG_RUNTIME_DIR not set");
}

void printSentences(const QStringList& sentences) {
    for (const QString& sentence : sentences) std::fprintf(standard_error::own(), "stepscope: %s\n", qPrintable(sentence));
}

thread_local bool t_hearing = false;  // what telling one causes is not told in turn

void hearMessage(QtMsgType type, const QMessageLogContext& context, const QString& text) {
    // Qt ends the program now: what it warned of before may be why.
    if (type == QtFatalMsg && !t_hearing) {
        const std::lock_guard ending(g_warningMutex);
        if (g_messages != nullptr) printSentences(g_messages->takeUntold());
    }
    if ((type != QtWarningMsg && type != QtCriticalMsg) || t_hearing) {
        if (g_beforeMessages != nullptr) g_beforeMessages(type, context, text);
        return;
    }
    if (isOfNoUse(text)) return;
    t_hearing = true;
    {
        const std::lock_guard telling(g_warningMutex);
        const QString sentence = warningOf(text);
        if (g_messages != nullptr && g_warnings.size() < kMostWarnings && !g_warnings.contains(sentence)) {
            g_warnings << sentence;
            g_messages->queue(sentence);
        }
    }
    t_hearing = false;
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
    QStringList untold;
    {
        const std::lock_guard leaving(g_warningMutex);
        g_messages = nullptr;
        untold = takeUntold();
    }
    printSentences(untold);
}

QStringList QtMessages::takeUntold() {
    return std::exchange(m_untold, {});
}

void QtMessages::tell(const QString& sentence) {
    t_hearing = true;
    {
        const std::lock_guard telling(g_warningMutex);
        queue(sentence);
    }
    t_hearing = false;
}

// By the event loop, whatever holds who warns.
void QtMessages::queue(const QString& sentence) {
    m_untold << sentence;
    QMetaObject::invokeMethod(
        this,
        [this, sentence] {
            {
                const std::lock_guard told(g_warningMutex);
                m_untold.removeOne(sentence);
            }
            Q_EMIT warned(sentence);
        },
        Qt::QueuedConnection);
}

}  // namespace stepscope
