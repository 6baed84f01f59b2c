#include "app/gui/process/Application.h"

#include <QMetaObject>
#include <cstdio>
#include <new>

#include "app/workbench/process/StandardError.h"
#include "core/base/Check.h"

namespace stepscope {
namespace {

constexpr int kMostTold = 100;  // sentences; a program that goes wrong in more ways than that has said enough

QString sentenceOf(const std::exception& thrown) {
    if (dynamic_cast<const std::bad_alloc*>(&thrown) != nullptr) return "There was not enough memory for this; the window goes on.";
    const QString what = QString::fromUtf8(thrown.what()).section('\n', 0, 0);
    if (dynamic_cast<const LogicError*>(&thrown) != nullptr) return what + " The window goes on; please report this.";
    return "Something unexpected went wrong: " + what + ". The window goes on.";
}

}  // namespace

bool Application::notify(QObject* receiver, QEvent* event) {
    try {
        return QApplication::notify(receiver, event);
    } catch (const std::exception& thrown) {
        report(thrown);
        return true;
    }
}

void Application::report(const std::exception& thrown) {
    const QString sentence = sentenceOf(thrown);
    auto* application = qobject_cast<Application*>(QCoreApplication::instance());
    if (application == nullptr)
        std::fprintf(standard_error::own(), "stepscope: %s\n", qPrintable(sentence));
    else
        QMetaObject::invokeMethod(
            application, [application, sentence] { application->tell(sentence); }, Qt::QueuedConnection);
}

void Application::tell(const QString& sentence) {
    if (m_told.contains(sentence) || m_told.size() >= kMostTold) return;
    m_told << sentence;
    std::fprintf(standard_error::own(), "stepscope: %s\n", qPrintable(sentence));
    Q_EMIT unexpected(sentence);
}

}  // namespace stepscope
