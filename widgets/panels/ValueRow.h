// One setting or switch of the experiment: name, chip, what waits for a new run, "reset", and its editor; below it a sentence
// when it cannot be used, when what was typed is wrong or when the run in progress has another value; clicking the name unfolds what it
// does. Made by SwitchList and ExperimentPanel from the catalogue and the table of keys; GUI thread.
#pragma once
#include <QWidget>

#include "core/events/SwitchCatalogue.h"

namespace stepscope {

class NewRunSign;
class TitleButton;
class ToneLabel;
class ValueEdit;

class ValueRow : public QWidget {
    Q_OBJECT
public:
    ValueRow(const QString& id, const QString& title, const ValueRange& range, QWidget* parent = nullptr);

    void setSummary(const QString& text);  // one line on what it does: below the name in its tooltip, and for screen readers
    void setDetails(const QString& text);
    void setHint(const QString& text);   // which value to choose: below the details, and on the editor
    void setNewRun(const QString& why);  // carries a small sign: takes effect in a new run only
    void setValue(const QString& text, bool changedFromPreset);
    void setChip(const QString& text, const QString& tooltip);  // what this machine measured: "×2.2", "×1.2 vs kernels"
    void setReason(const QString& why);                         // cannot be used here; empty = can
    void setInstead(const QString& what);                       // another value runs for now, or this one does nothing, and why; empty = it runs
    void setRefused(const std::vector<std::pair<std::string, std::string>>& refused);
    void setProblem(const QString& sentence);  // the text that was committed is wrong; it stays as it is
    // What the run in progress has instead, empty = the same. Where it need not wait for a new run, with a link either way.
    void setInRun(const QString& value);

    QString id() const { return m_id; }
    QString details() const;
    QString problem() const { return m_problemText; }
    ValueEdit* editor() const { return m_editor; }
    bool isUnfolded() const;

Q_SIGNALS:
    void committed(const QString& id, const QString& text);
    void resetRequested(const QString& id);
    void flipRequested(const QString& id);      // the run shall have what is shown here
    void takeBackRequested(const QString& id);  // what is shown here shall be the run's again

private:
    void buildLinks();
    void limitEditor(int width);
    void showNote();
    void showLinks(bool shown);

    QString m_id;
    QString m_detailsText, m_hintText;
    QString m_reasonText, m_insteadText, m_problemText, m_valueText, m_inRunText;
    TitleButton* m_title;
    TitleButton* m_reset;
    ToneLabel* m_chip;
    NewRunSign* m_newRun;
    ValueEdit* m_editor;
    ToneLabel* m_note;
    QWidget* m_links;
    TitleButton *m_flip, *m_takeBack;
    ToneLabel* m_details;
};

}  // namespace stepscope
