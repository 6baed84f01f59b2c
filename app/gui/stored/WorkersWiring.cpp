#include "app/gui/stored/WorkersWiring.h"

#include "app/workbench/workers/WorkersForecast.h"
#include "sessions/Samples.h"
#include "widgets/panels/sessions/SessionsPanel.h"
#include "widgets/panels/workers/WorkersDialog.h"

namespace stepscope {
namespace {

const std::vector<std::int64_t> kForetold{8, 64};  // workers

}  // namespace

WorkersWiring::WorkersWiring(const Panels& panels, std::string database, QObject* parent)
    : QObject(parent), m_database(std::move(database)), m_dialog(new WorkersDialog(&panels.window)) {
    connect(&panels.sessions, &SessionsPanel::workersRequested, this, &WorkersWiring::ask);
}

void WorkersWiring::ask(qint64 session, const QString& name) {
    m_dialog->ask(session, name);
    m_thread.post([this, session] {
        WorkersView view{.session = session, .map = nullptr, .problem = {}};
        if (auto map = workerMapOf(m_database, session)) {
            const auto forecast = forecastWorkers(m_database, session, *map, kForetold);
            view.forecast = QString::fromStdString(forecast ? forecastWords(*forecast) : forecast.error().sentence);
            view.map = std::make_shared<const WorkerMap>(std::move(*map));
        } else {
            view.problem = QString::fromStdString(map.error().sentence);
        }
        answer(this, [this, view] { m_dialog->setView(view); });
    });
}

}  // namespace stepscope
