// One editor for any ValueRange: a toggle for two words, a list for more, a number box, or a line of text. What it commits is
// text, because parseValue() and setKey() are the only rules there are. Used by ValueRow; GUI thread.
#pragma once
#include <QWidget>

#include "core/events/SwitchCatalogue.h"

class QComboBox;
class QLineEdit;

namespace stepscope {

class NumberEdit;
class ToggleSwitch;

class ValueEdit : public QWidget {
    Q_OBJECT
public:
    ValueEdit(const ValueRange& range, const QString& accessibleName, QWidget* parent = nullptr);

    void setText(const QString& text);  // without committing
    QString text() const;
    bool isToggle() const { return m_toggle != nullptr; }
    bool isNumber() const { return m_number != nullptr; }
    // Words that this machine or configuration refuses stay in the list, greyed, with the reason as tooltip.
    void setRefused(const std::vector<std::pair<std::string, std::string>>& refused);

Q_SIGNALS:
    void committed(const QString& text);

private:
    ToggleSwitch* m_toggle = nullptr;
    QComboBox* m_list = nullptr;
    NumberEdit* m_number = nullptr;
    QLineEdit* m_line = nullptr;
    QString m_last;  // of m_line: set or committed
    QStringList m_words;
};

}  // namespace stepscope
