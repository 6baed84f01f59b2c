// The menu of a switch's row. A live run measures another value beside its own, in turns.
#include <QContextMenuEvent>
#include <QMenu>

#include "core/events/ConfigKeys.h"
#include "widgets/panels/experiment/ExperimentPanel.h"
#include "widgets/panels/experiment/ValueRow.h"

namespace stepscope {
namespace {

QString shown(const std::string& text) {
    return QString::fromStdString(text);
}

// Values that are worth a measurement beside `now`: every other word that can be used here; of a whole number its half and its double.
std::vector<Value> othersOf(const SwitchInfo& entry, const Value& now) {
    std::vector<Value> others;
    if (const auto* choices = std::get_if<Choices>(&entry.values)) {
        for (const std::string& word : choices->words) {
            const bool refused = std::ranges::any_of(entry.refusedChoices, [&](const auto& one) { return one.first == word; });
            const auto value = parseValue(entry.values, entry.id, word);
            if (!refused && value && *value != now) others.push_back(*value);
        }
    } else if (const auto* number = std::get_if<std::int64_t>(&now)) {
        for (const std::int64_t other : {*number / 2, *number * 2})
            if (const auto value = parseValue(entry.values, entry.id, std::to_string(other)); value && *value != now) others.push_back(*value);
    }
    return others;
}

}  // namespace

std::unique_ptr<QMenu> ExperimentPanel::menuOf(const std::string& id) {
    const auto entry = std::ranges::find(m_draft.catalogue(), id, &SwitchInfo::id);
    if (entry == m_draft.catalogue().end()) return nullptr;
    auto menu = std::make_unique<QMenu>();
    const auto say = [&](const QString& sentence) { menu->addAction(sentence)->setEnabled(false); };
    const auto used = m_running ? m_running->switches.find(id) : std::map<std::string, Value>::const_iterator{};
    if (!m_running || used == m_running->switches.end()) {
        say("Measure properly: needs a run; without one, page Compare");
    } else if (entry->takesEffect != TakesEffect::Step) {
        say("Measure properly: only of what a run can change; else page Compare");
    } else {
        for (const Value& other : othersOf(*entry, used->second)) {
            const QString what = QString("Measure %1 beside %2 in this run").arg(shown(toString(other)), shown(toString(used->second)));
            connect(menu->addAction(what), &QAction::triggered, this, [this, id, other] { Q_EMIT measureRequested(shown(id), other); });
        }
        if (menu->isEmpty()) say("Measure properly: no other value can be used here");
    }
    return menu;
}

void ExperimentPanel::contextMenuEvent(QContextMenuEvent* event) {
    for (QWidget* at = childAt(event->pos()); at != nullptr && at != this; at = at->parentWidget())
        if (const auto* row = qobject_cast<ValueRow*>(at))
            if (const auto menu = menuOf(row->id().toStdString())) {
                menu->exec(event->globalPos());
                return event->accept();
            }
    QWidget::contextMenuEvent(event);
}

}  // namespace stepscope
