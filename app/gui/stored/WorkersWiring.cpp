#include "app/gui/stored/WorkersWiring.h"

#include "core/analysis/panes/WorkerMap.h"
#include "sessions/Samples.h"
#include "widgets/panels/sessions/SessionsPanel.h"
#include "widgets/panels/workers/WorkersDialog.h"

namespace stepscope {
namespace {

Result<std::shared_ptr<const WorkerMap>> readWorkers(const std::string& database, qint64 session) {
    auto reader = SessionReader::open(database);
    if (!reader) return reader.error();
    auto map = std::make_shared<WorkerMap>();
    const auto read = forEachWorkerTimes(**reader, session, [&](const WorkerTimes& block) -> Status {
        map->add(block);
        return {};
    });
    if (!read) return read.error();
    return std::shared_ptr<const WorkerMap>(std::move(map));
}

}  // namespace

WorkersWiring::WorkersWiring(const Panels& panels, std::string database, QObject* parent)
    : QObject(parent), m_database(std::move(database)), m_dialog(new WorkersDialog(&panels.window)) {
    connect(&panels.sessions, &SessionsPanel::workersRequested, this, &WorkersWiring::ask);
}

void WorkersWiring::ask(qint64 session, const QString& name) {
    m_dialog->ask(session, name);
    m_thread.post([this, session] {
        WorkersView view{.session = session, .map = nullptr, .problem = {}};
        if (auto map = readWorkers(m_database, session))
            view.map = std::move(*map);
        else
            view.problem = QString::fromStdString(map.error().sentence);
        answer(this, [this, view] { m_dialog->setView(view); });
    });
}

}  // namespace stepscope
