#include "app/gui/stored/CheckpointsWiring.h"

#include "app/gui/wiring/RunWiring.h"
#include "app/workbench/ExportModel.h"
#include "core/base/Format.h"
#include "core/base/Utf8.h"
#include "sessions/SessionStore.h"
#include "widgets/panels/sessions/CheckpointsDialog.h"
#include "widgets/panels/sessions/SessionsPanel.h"

namespace stepscope {
namespace {

QString sizeOf(std::int64_t bytes) {
    return QString::fromStdString(format::bytes({bytes}));
}

// An engine on another machine keeps them there.
void findElsewhere(const std::string& database, CheckpointsView& view) {
    const auto newest = newestStoredCheckpoint(database, view.session);
    if (!newest || newest->empty()) return;
    view.newest = QString::fromStdString(printable(*newest));
    const auto reader = SessionReader::open(database);
    const auto summary = reader ? (*reader)->summary(view.session) : Result<SessionSummary>(reader.error());
    if (summary) view.host = QString::fromStdString(printable(summary->host));
}

}  // namespace

CheckpointsWiring::CheckpointsWiring(const Panels& panels, RunWiring& running, std::string database, QObject* parent)
    : QObject(parent), m_running(running), m_database(std::move(database)), m_dialog(new CheckpointsDialog(&panels.window)) {
    connect(&panels.sessions, &SessionsPanel::checkpointsRequested, this, &CheckpointsWiring::ask);
    connect(m_dialog, &CheckpointsDialog::removeRequested, this, &CheckpointsWiring::remove);
    connect(m_dialog, &CheckpointsDialog::exportRequested, this, &CheckpointsWiring::write);
    connect(m_dialog, &CheckpointsDialog::resumeRequested, this, &CheckpointsWiring::resumeRequested);
    connect(m_dialog, &CheckpointsDialog::textRequested, this, &CheckpointsWiring::textRequested);
}

CheckpointsWiring::~CheckpointsWiring() {
    m_leaving = true;
}

void CheckpointsWiring::ask(qint64 session, const QString& name) {
    m_dialog->ask(session, name);
    read(session);
}

void CheckpointsWiring::read(qint64 session) {
    m_thread.post([this, session] {
        CheckpointsView view{.session = session, .checkpoints = {}, .problem = {}, .newest = {}, .host = {}};
        if (const auto listed = listCheckpoints(m_database, session)) {
            for (const ListedCheckpoint& one : *listed)
                view.checkpoints.push_back({QString::fromStdString(one.path), one.step, one.bytes, one.validationLoss});
        } else {
            view.problem = QString::fromStdString(listed.error().sentence);
        }
        if (view.checkpoints.empty() && view.problem.isEmpty()) findElsewhere(m_database, view);
        answer(this, [this, view] { m_dialog->setView(view); });
    });
}

void CheckpointsWiring::remove(qint64 session, const QString& path) {
    m_thread.post([this, session, path] {
        const auto freed = deleteCheckpoint(m_database, session, path.toStdString());
        answer(this, [this, session, freed] {
            if (m_dialog->session() == session) {
                if (freed)
                    m_dialog->setDone(sizeOf(*freed) + " are free again.");
                else
                    m_dialog->setProblem(QString::fromStdString(freed.error().sentence));
            }
            Q_EMIT removed(session);
            read(session);
        });
    });
}

void CheckpointsWiring::write(qint64 session, const QString& path, qint64 step, const QString& folder) {
    const QString count = QString::fromStdString(format::count(step));
    m_dialog->setBusy(QString("Writing the weights of step %1 to %2…").arg(count, folder));
    m_thread.post([this, session, path, count, folder] {
        const auto written = exportModel({.from = path.toStdString(), .folder = folder.toStdString()}, m_leaving);
        QString sentence;
        if (written) {
            sentence = QString("The weights of step %1 are in %2: %3.").arg(count, folder, sizeOf(written->bytes));
            for (const std::string& note : written->notes) sentence += ' ' + QString::fromStdString(note);
        } else {
            sentence = QString::fromStdString(written.error().sentence);
        }
        answer(this, [this, session, sentence, good = written.ok()] {
            m_running.say(sentence, !good);
            if (m_dialog->session() != session) return;
            if (good)
                m_dialog->setDone(sentence);
            else
                m_dialog->setProblem(sentence);
        });
    });
}

}  // namespace stepscope
