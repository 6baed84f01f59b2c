#include "widgets/panels/experiment/ValueEdit.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QLineEdit>
#include <QStandardItemModel>

#include "widgets/panels/experiment/NumberEdit.h"
#include "widgets/panels/experiment/RowParts.h"
#include "widgets/panels/experiment/ToggleSwitch.h"

namespace stepscope {

ValueEdit::ValueEdit(const ValueRange& range, const QString& accessibleName, QWidget* parent) : QWidget(parent) {
    auto* layout = new QHBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    QWidget* editor = nullptr;
    if (const auto* choices = std::get_if<Choices>(&range)) {
        for (const auto& word : choices->words) m_words << QString::fromStdString(word);
        if (m_words.size() == 2) {
            // "on" always stands right, in whichever order a key names its words.
            if (m_words[0] == "on") m_words.swapItemsAt(0, 1);
            editor = m_toggle = new ToggleSwitch;
            m_toggle->setWords(m_words[0], m_words[1]);
            connect(m_toggle, &QAbstractButton::clicked, this, [this] { Q_EMIT committed(text()); });
        } else if (m_words.isEmpty()) {
            editor = m_line = new QLineEdit;
            connect(m_line, &QLineEdit::editingFinished, this, [this] {
                if (text() == m_last) return;  // the keyboard only passed through
                m_last = text();
                Q_EMIT committed(m_last);
            });
        } else {
            editor = m_list = new QComboBox;
            m_list->addItems(m_words);
            m_list->setFocusPolicy(Qt::StrongFocus);
            m_list->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
            m_list->setMinimumContentsLength(7);
            connect(m_list, &QComboBox::activated, this, [this] { Q_EMIT committed(text()); });
        }
    } else {
        editor = m_number = new NumberEdit;
        m_number->setRange(range);
        connect(m_number, &NumberEdit::committed, this, &ValueEdit::committed);
    }
    editor->setAccessibleName(accessibleName);
    layout->addWidget(editor);
    if (m_list != nullptr) nameForReaders(*m_list, accessibleName);
    if (m_toggle != nullptr) layout->addStretch();
    setFocusProxy(editor);
}

void ValueEdit::setText(const QString& text) {
    if (m_toggle != nullptr) m_toggle->setChecked(text == m_words[1]);
    if (m_list != nullptr) m_list->setCurrentIndex(m_words.indexOf(text));
    if (m_number != nullptr) m_number->setText(text);
    if (m_line == nullptr || text == m_last) return;  // what is being typed meanwhile stays
    m_last = text;
    m_line->setText(text);
}

QString ValueEdit::text() const {
    if (m_toggle != nullptr) return m_toggle->word();
    if (m_list != nullptr) return m_list->currentText();
    if (m_line != nullptr) return m_line->text();
    return m_number->text();
}

void ValueEdit::setRefused(const std::vector<std::pair<std::string, std::string>>& refused) {
    const auto reasonFor = [&](const QString& word) {
        for (const auto& [choice, reason] : refused)
            if (QString::fromStdString(choice) == word) return QString::fromStdString(reason);
        return QString();
    };
    if (m_toggle != nullptr) {
        const QString other = m_toggle->isChecked() ? m_words[0] : m_words[1];
        m_toggle->setEnabled(reasonFor(other).isEmpty());
        m_toggle->setToolTip(reasonFor(other));
    }
    if (m_list == nullptr) return;
    auto* items = qobject_cast<QStandardItemModel*>(m_list->model());
    for (int i = 0; i < m_words.size(); ++i) {
        const QString reason = reasonFor(m_words[i]);
        items->item(i)->setEnabled(reason.isEmpty());
        items->item(i)->setToolTip(reason);
    }
}

}  // namespace stepscope
