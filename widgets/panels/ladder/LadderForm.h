// The question of the page Ladder: a ladder or the search for what is best, how long it may take, what counts as equal; below it what that would
// measure, or why it cannot be measured now. Part of LadderPage; GUI thread.
#pragma once
#include <QWidget>
#include <vector>

#include "core/events/SwitchCatalogue.h"
#include "widgets/panels/ladder/LadderTypes.h"

class QCheckBox;
class QComboBox;
class QDoubleSpinBox;

namespace stepscope {

class ElidedLabel;
class NumberEdit;

class LadderForm : public QWidget {
    Q_OBJECT
public:
    explicit LadderForm(QWidget* parent = nullptr);

    void setLadders(const std::vector<LadderChoice>& ladders);  // that are built in
    void setFile(const QString& path);                          // adds it to the list and chooses it
    void setQuestion(const LadderQuestion& question);
    LadderQuestion question() const;  // with the last numbers that were in their range
    QString wrongNumber() const;      // the sentence; empty = all are good
    bool asksForSearch() const;       // and not for a ladder
    void say(const QString& sentence, bool warns);

    QString described() const;  // what the chosen one does
    QString said() const;

Q_SIGNALS:
    void edited();
    void fileRequested();

private:
    QWidget* buildMore();
    void describeItem(int at, const QString& words);
    void showChosen();
    double numberOf(std::size_t place) const;  // of m_numbers

    QComboBox* m_what;
    ElidedLabel *m_described, *m_said;
    QDoubleSpinBox* m_minutes;
    QCheckBox *m_leaveOneOut, *m_pairs, *m_sizes;
    struct Number {
        const char* key;
        ValueRange range;
        NumberEdit* edit;
        double good;
    };
    std::vector<Number> m_numbers;  // of the row "More": what counts as equal in percent, the seed, gigabytes
    QWidget *m_moreRow, *m_memory;
};

}  // namespace stepscope
