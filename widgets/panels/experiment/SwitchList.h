// Every switch of the catalogue as one row, in its group. Nothing here knows a switch by name: a new one in the registry
// appears by itself. Part of ExperimentPanel; GUI thread.
#pragma once
#include <QWidget>
#include <map>

#include "core/events/SwitchCatalogue.h"

class QVBoxLayout;

namespace stepscope {

class ExperimentDraft;
class ToneLabel;
class ValueRow;

class SwitchList : public QWidget {
    Q_OBJECT
public:
    explicit SwitchList(QWidget* parent = nullptr);
    // Rows are made anew only when the set of switches is another one; else verdicts and values are brought up to date.
    void setDraft(const ExperimentDraft& draft);
    ValueRow* row(const std::string& id) const;
    void clearProblems();
    // Only the switches that have all of these words in their title, key or description; a group without any loses its heading.
    void setFilter(const QString& words);
    // Both stay when the rows are made anew.
    void setMeasured(const std::string& id, const QString& chip, const QString& sentence);
    void setMemory(const std::string& id, const QString& sentence);

Q_SIGNALS:
    void committed(const QString& id, const QString& text);
    void resetRequested(const QString& id);
    void flipRequested(const QString& id);
    void takeBackRequested(const QString& id);

private:
    struct Known {
        QString what, chip, measured, memory;  // of one switch; `what` from the catalogue
    };
    void build(const SwitchCatalogue& catalogue);
    void applyFilter();
    void showDetails(const std::string& id);

    struct Group {
        ToneLabel* heading;
        std::vector<std::string> ids;
    };

    QVBoxLayout* m_layout;
    std::vector<Group> m_groups;
    ToneLabel* m_none = nullptr;  // when the filter leaves nothing
    QStringList m_filter;
    std::map<std::string, QString> m_places;  // where the filter looks
    std::vector<std::string> m_ids;
    std::map<std::string, ValueRow*> m_rows;
    std::map<std::string, Known> m_known;
};

}  // namespace stepscope
