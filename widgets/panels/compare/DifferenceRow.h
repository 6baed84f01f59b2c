// One thing in which the two sides differ: a switch or a setting, its value on side A, its value on side B, and below them, in a place that is kept,
// what is wrong with it. A's value follows the panel at the left until a person changes it. Used by CompareForm; GUI thread.
#pragma once
#include <QWidget>
#include <optional>

#include "core/events/SwitchCatalogue.h"
#include "widgets/panels/compare/CompareTypes.h"

class QComboBox;
class QGridLayout;
class QToolButton;

namespace stepscope {

class ElidedLabel;
class ValueEdit;

// What two sides can differ in: switches first, then the settings of ConfigKeys.h.
struct ComparableKey {
    std::string id;
    QString title;
    ValueRange values;
    std::vector<std::pair<std::string, std::string>> refused;
    bool asksFirst = false;  // a question to begin with: a precision that this machine has
};
std::vector<ComparableKey> comparableKeys(const SwitchCatalogue& catalogue);
// A value that is not `now` and can be used: the other word, the next one, twice the number.
std::string anotherValue(const ComparableKey& key, const std::string& now);

class DifferenceRow : public QWidget {
    Q_OBJECT
public:
    static constexpr int kEditorWidth = 94;

    explicit DifferenceRow(QWidget* parent = nullptr);

    void setNumber(int number);  // from 1, for screen readers
    // config: the settings that both sides start from.
    void setSettings(const RunConfig& config, const SwitchCatalogue& catalogue);
    void setDifference(const Difference& difference);  // also what a person typed: A no longer follows
    Difference difference() const;
    void setProblem(const QString& sentence);
    QString problem() const;
    void setRemovable(bool removable);

    // The keyboard goes from `before` (nullptr: from wherever it does) through this row; what comes last in it.
    QWidget* chain(QWidget* before);
    int removeWidth() const;  // of the column behind B
    QComboBox* keys() const { return m_keys; }
    ValueEdit* editor(bool ofA) const { return ofA ? m_a : m_b; }

Q_SIGNALS:
    void edited();
    void removeRequested();

private:
    const ComparableKey* chosen() const;
    void buildEditors();
    void fillKeys();

    std::vector<ComparableKey> m_all;
    std::optional<Difference> m_wanted;  // asked for before the engine had said that there is such a key
    std::vector<std::pair<std::string, std::string>> m_settings;
    QComboBox* m_keys;
    ValueEdit *m_a = nullptr, *m_b = nullptr;
    QToolButton* m_remove;
    ElidedLabel* m_problem;
    QGridLayout* m_grid;
    bool m_aFollows = true;
    bool m_bChosen = false;  // by a person: else it is another value than A's
    int m_number = 1;
};

}  // namespace stepscope
