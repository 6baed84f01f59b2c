#include "app/gui/wiring/ImportWiring.h"

#include <QDropEvent>
#include <QFileDialog>
#include <QFileInfo>
#include <QMimeData>
#include <QProgressDialog>
#include <QTabWidget>
#include <QUrl>
#include <utility>

#include "app/gui/wiring/RunWiring.h"
#include "app/gui/wiring/SessionsReader.h"
#include "app/gui/wiring/SessionsWiring.h"
#include "core/base/Format.h"
#include "sessions/importers/Import.h"

namespace stepscope {
namespace {

constexpr int kParts = 1000;  // of the bar

QStringList localFiles(const QMimeData* data) {
    QStringList files;
    if (data == nullptr) return files;
    for (const QUrl& url : data->urls())
        if (url.isLocalFile()) files << url.toLocalFile();
    return files;
}

QString wordsFor(const ImportSummary& summary) {
    QStringList parts;
    const auto part = [&](std::int64_t count, const char* what) {
        if (count > 0) parts << QString("%1 %2").arg(QString::fromStdString(format::count(count)), what);
    };
    part(summary.steps, "steps");
    part(summary.operations, "operations");
    part(summary.kernels, "kernels");
    part(summary.copies, "copies");
    part(summary.samples, "samples");
    const QString what = parts.isEmpty() ? QString("no operations") : parts.join(", ");
    QString sentence = summary.sessions > 1
                           ? QString("Imported %1 sessions: %2. The newest is session %3.").arg(summary.sessions).arg(what).arg(summary.session)
                           : QString("Imported as session %1: %2.").arg(summary.session).arg(what);
    if (summary.skipped > 0) sentence += QString(" %1 events could not be kept.").arg(QString::fromStdString(format::count(summary.skipped)));
    for (const auto& note : summary.notes) sentence += " " + QString::fromStdString(note);
    return sentence;
}

}  // namespace

ImportWiring::ImportWiring(const Panels& panels, RunWiring& running, SessionsReader& reader, SessionsWiring& sessions, QObject* parent)
    : QObject(parent), m_panels(panels), m_running(running), m_reader(reader), m_sessions(sessions) {
    panels.window.setAcceptDrops(true);
    panels.window.installEventFilter(this);
}

ImportWiring::~ImportWiring() {
    *m_stop = true;
}

bool ImportWiring::eventFilter(QObject* watched, QEvent* event) {
    if (event->type() == QEvent::DragEnter || event->type() == QEvent::DragMove || event->type() == QEvent::Drop) {
        auto* drop = static_cast<QDropEvent*>(event);
        const QStringList files = localFiles(drop->mimeData());
        if (!files.isEmpty()) {
            drop->acceptProposedAction();
            if (event->type() == QEvent::Drop) import(files);
            return true;
        }
    }
    return QObject::eventFilter(watched, event);
}

void ImportWiring::showProgress(const QString& file) {
    if (m_dialog == nullptr) {
        m_dialog = new QProgressDialog(&m_panels.window);
        m_dialog->setWindowTitle("Import");
        m_dialog->setCancelButtonText("Stop");
        m_dialog->setAutoClose(false);
        m_dialog->setAutoReset(false);
        m_dialog->setMinimumDuration(300);
        m_dialog->setRange(0, kParts);
        connect(m_dialog, &QProgressDialog::canceled, this, &ImportWiring::stopAll);
    }
    m_dialog->setLabelText(QString("Importing %1").arg(QFileInfo(file).fileName()));
}

// What was asked for by now; what is asked for from here on has a flag of its own, though it may wait until the others have heard.
void ImportWiring::stopAll() {
    *m_stop = true;
    m_stop = std::make_shared<std::atomic<bool>>(false);
}

void ImportWiring::choose() {
    import(QFileDialog::getOpenFileNames(
        &m_panels.window, "Import traces, logs or sessions", {},
        "Traces, logs and sessions (*.json *.gz *.perfetto-trace *.sqlite *.csv *.tsv *.log *.db *tfevents*);;All files (*)"));
}

void ImportWiring::import(const QStringList& files) {
    if (files.isEmpty()) return;
    ++m_importing;
    if (m_dialog != nullptr && m_dialog->wasCanceled()) {  // of those that were stopped: it does not come back
        m_dialog->deleteLater();
        m_dialog = nullptr;
    }
    showProgress(files.first());
    m_dialog->setValue(0);
    ImportRequest request{.database = m_reader.database(), .files = {}, .name = {}, .progress = {}};
    for (const QString& file : files) request.files.push_back(file.toStdString());
    m_thread.post([this, stop = m_stop, request = std::move(request)]() mutable {
        int told = -1;
        request.progress = [&](double share, const std::string& file) {
            // The window hears of a change that it can show, and no more often.
            if (const int part = static_cast<int>(share * kParts); part != told) {
                told = part;
                answer(this, [this, stop, part, name = QString::fromStdString(file)] {
                    if (m_dialog == nullptr || *stop) return;
                    showProgress(name);
                    m_dialog->setValue(part);
                });
            }
            return !*stop;
        };
        const auto summary = importFiles(request);
        if (!summary) {
            answer(this,
                   [this, cancelled = summary.error().code == ErrorCode::Cancelled, sentence = QString::fromStdString(summary.error().sentence)] {
                       ended();
                       m_running.say(sentence, !cancelled);
                       m_refusal = sentence;
                       Q_EMIT refused(sentence);
                   });
            return;
        }
        answer(this,
               [this, session = summary->session, sentence = wordsFor(*summary), kernels = summary->kernels > 0, trace = summary->sessions == 0] {
                   ended();
                   m_running.takeBack(std::exchange(m_refusal, {}));  // it would lie over what is said of this one
                   m_reader.refresh();
                   m_sessions.replay(session, sentence);
                   if (trace) m_panels.pages.setCurrentWidget(kernels ? &m_panels.timeline : &m_panels.operations);
                   Q_EMIT imported(session);
               });
    });
}

void ImportWiring::ended() {
    if (--m_importing > 0) return;
    if (m_dialog != nullptr) m_dialog->deleteLater();
    m_dialog = nullptr;
}

}  // namespace stepscope
