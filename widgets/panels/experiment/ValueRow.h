// One setting or switch of the experiment: name, what waits for a new run, its editor, and beside it, in a place that is kept, what this machine
// measured or, when there is something to say, that: it cannot be used, what was typed is wrong, the run in progress has another value. Nothing
// of this moves a row; clicking the name unfolds what it does. Made by SwitchList and ExperimentPanel from the catalogue and the table of keys;
// GUI thread.
#pragma once
#include <QWidget>

#include "core/events/SwitchCatalogue.h"

namespace stepscope {

class NewRunSign;
class RowRemark;
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
    void setChip(const QString& text, const QString& tooltip);  // what this machine measured: "bf16 ×2.2", "step ×1.2 vs kernels"
    void setReason(const QString& why);                         // cannot be used here; empty = can
    void setFallback(const QString& what);                      // another value runs for now, or this one does nothing, and why; empty = it runs
    void setRefused(const std::vector<std::pair<std::string, std::string>>& refused);
    void setProblem(const QString& sentence);  // the text that was committed is wrong; it stays as it is
    // What the run in progress has instead, empty = the same. Where it need not wait for a new run, with a link either way.
    void setInRun(const QString& value);

    QString id() const { return m_id; }
    QString details() const;
    QString problem() const { return m_problemText; }
    ValueEdit* editor() const { return m_editor; }
    RowRemark* remark() const { return m_remark; }
    bool isUnfolded() const;

Q_SIGNALS:
    void committed(const QString& id, const QString& text);
    void resetRequested(const QString& id);
    void flipRequested(const QString& id);      // the run shall have what is shown here
    void takeBackRequested(const QString& id);  // what is shown here shall be the run's again

private:
    void buildLinks();
    void showNote();
    void showLinks(bool shown);

    QString m_id;
    QString m_detailsText, m_hintText;
    QString m_reasonText, m_fallbackText, m_problemText, m_valueText, m_inRunText;
    TitleButton* m_title;
    TitleButton* m_reset;
    ToneLabel* m_chip;
    NewRunSign* m_newRun;
    ValueEdit* m_editor;
    RowRemark* m_remark;
    TitleButton *m_flip, *m_takeBack;
    ToneLabel* m_details;
};

}  // namespace stepscope
