#include "widgets/panels/experiment/SwitchList.h"

#include <QVBoxLayout>
#include <algorithm>

#include "widgets/panels/ToneLabel.h"
#include "widgets/panels/experiment/ExperimentDraft.h"
#include "widgets/panels/experiment/RowParts.h"
#include "widgets/panels/experiment/ValueRow.h"

namespace stepscope {
namespace {

QString detailsOf(const SwitchInfo& entry) {
    QString text = QString::fromStdString(entry.why);
    if (!entry.cost.empty()) text += "\n" + QString::fromStdString(entry.cost);
    if (!entry.reported.empty()) text += "\nReported elsewhere, on other hardware: " + QString::fromStdString(entry.reported);
    for (const auto& [choice, reason] : entry.refusedChoices) text += "\n" + QString::fromStdString(choice) + ": " + QString::fromStdString(reason);
    return text;
}

}  // namespace

SwitchList::SwitchList(QWidget* parent) : QWidget(parent), m_layout(new QVBoxLayout(this)) {
    m_layout->setContentsMargins(0, 0, 0, 0);
    m_layout->setSpacing(0);
}

void SwitchList::build(const SwitchCatalogue& catalogue) {
    qDeleteAll(findChildren<QWidget*>(QString(), Qt::FindDirectChildrenOnly));
    m_rows.clear();
    m_ids.clear();
    m_groups.clear();
    m_places.clear();
    // Grouped whatever the order of registration is; inside a group that order stays.
    for (int group = 0; group <= static_cast<int>(SwitchGroup::Loop); ++group) {
        bool first = true;
        for (const auto& entry : catalogue) {
            if (static_cast<int>(entry.group) != group) continue;
            if (first) {
                auto* heading = new ToneLabel(Tone::Muted, QString(toString(entry.group)).toLower());
                heading->setContentsMargins(2, 6, 0, 0);
                m_layout->addWidget(heading);
                m_groups.push_back({heading, {}});
                first = false;
            }
            m_groups.back().ids.push_back(entry.id);
            m_places[entry.id] = QString::fromStdString(entry.title + '\n' + entry.id + '\n' + entry.why);
            auto* row = new ValueRow(QString::fromStdString(entry.id), QString::fromStdString(entry.title), entry.values);
            row->setSummary(firstSentence(QString::fromStdString(entry.why)));
            if (entry.takesEffect == TakesEffect::NewRun) row->setNewRun(QString::fromStdString(entry.whyNewRun));
            connect(row, &ValueRow::committed, this, &SwitchList::committed);
            connect(row, &ValueRow::resetRequested, this, &SwitchList::resetRequested);
            connect(row, &ValueRow::flipRequested, this, &SwitchList::flipRequested);
            connect(row, &ValueRow::takeBackRequested, this, &SwitchList::takeBackRequested);
            m_layout->addWidget(row);
            m_rows[entry.id] = row;
        }
    }
    for (const auto& entry : catalogue) m_ids.push_back(entry.id);
    m_none = rowSentence(Tone::Muted);
    m_none->setText("No switch matches. Fewer letters find more.");
    m_layout->addWidget(m_none);
    applyFilter();
}

void SwitchList::setFilter(const QString& words) {
    m_filter = words.split(' ', Qt::SkipEmptyParts);
    applyFilter();
}

void SwitchList::applyFilter() {
    bool none = !m_groups.empty();
    for (const Group& group : m_groups) {
        bool any = false;
        for (const std::string& id : group.ids) {
            const QString& place = m_places.at(id);
            const bool shown = std::ranges::all_of(m_filter, [&](const QString& word) { return place.contains(word, Qt::CaseInsensitive); });
            m_rows.at(id)->setVisible(shown);
            any = any || shown;
        }
        group.heading->setVisible(any);
        none = none && !any;
    }
    if (m_none != nullptr) m_none->setVisible(none);
}

void SwitchList::setDraft(const ExperimentDraft& draft) {
    std::vector<std::string> ids;
    for (const auto& entry : draft.catalogue()) ids.push_back(entry.id);
    if (ids != m_ids) build(draft.catalogue());
    for (const auto& entry : draft.catalogue()) {
        ValueRow* row = m_rows.at(entry.id);
        m_known[entry.id].what = detailsOf(entry);
        showDetails(entry.id);
        row->setValue(QString::fromStdString(draft.text(entry.id)), draft.changed(entry.id));
        row->setRefused(entry.refusedChoices);
        row->setReason(entry.applicable.usable ? QString() : QString::fromStdString(entry.applicable.reason));
        row->setFallback(QString::fromStdString(entry.fallback.empty() ? entry.note : entry.fallback));
    }
}

ValueRow* SwitchList::row(const std::string& id) const {
    const auto found = m_rows.find(id);
    return found == m_rows.end() ? nullptr : found->second;
}

void SwitchList::setMeasured(const std::string& id, const QString& chip, const QString& sentence) {
    if (m_known[id].chip == chip && m_known[id].measured == sentence) return;
    m_known[id].chip = chip;
    m_known[id].measured = sentence;
    showDetails(id);
}

void SwitchList::setMemory(const std::string& id, const QString& sentence) {
    m_known[id].memory = sentence;
    showDetails(id);
}

void SwitchList::showDetails(const std::string& id) {
    ValueRow* shown = row(id);
    if (shown == nullptr) return;
    const Known& known = m_known[id];
    QString text = known.what;
    for (const QString& more : {known.memory, known.measured})
        if (!more.isEmpty()) text += "\n" + more;
    shown->setDetails(text);
    shown->setChip(known.chip, known.measured);
}

void SwitchList::clearProblems() {
    for (auto& [id, row] : m_rows) row->setProblem({});
}

}  // namespace stepscope
