#include "widgets/panels/sessions/ExportQuestion.h"

#include <QComboBox>
#include <QFileDialog>
#include <QFileInfo>
#include <QGridLayout>
#include <QLabel>
#include <QStandardPaths>
#include <utility>

namespace stepscope {

ExportQuestion::ExportQuestion(qint64 session, std::vector<ExportChoice> choices, const std::vector<ExportPart>& parts, const QString& title,
                               QWidget* parent)
    : m_dialog(new QFileDialog(parent, title, QStandardPaths::writableLocation(QStandardPaths::DocumentsLocation))),
      m_session(session),
      m_choices(std::move(choices)) {
    setParent(m_dialog);
    m_dialog->setAttribute(Qt::WA_DeleteOnClose);
    m_dialog->setAcceptMode(QFileDialog::AcceptSave);  // it asks before a file that is there is written over
    if (parts.size() > 1) addParts(parts);
    QStringList filters;
    for (const ExportChoice& choice : m_choices) filters << choice.filter();
    m_dialog->setNameFilters(filters);
    useFilter(m_choices.front().filter());
    connect(m_dialog, &QFileDialog::filterSelected, this, &ExportQuestion::useFilter);
    connect(m_dialog, &QFileDialog::fileSelected, this,
            [this](const QString& path) { Q_EMIT answered(path, m_choices.size() == 1 ? m_choices.front().word : QString(), rank()); });
}

void ExportQuestion::addParts(const std::vector<ExportPart>& parts) {
    m_dialog->setOption(QFileDialog::DontUseNativeDialog);  // the system's has no room for it
    m_parts = new QComboBox(m_dialog);
    m_parts->setAccessibleName("Whose part is exported");
    m_parts->setToolTip("Several were captured together; most readers of traces want a file for each");
    for (const ExportPart& part : parts) m_parts->addItem(part.title, part.rank);
    auto* label = new QLabel("&Part:", m_dialog);
    label->setBuddy(m_parts);
    if (auto* rows = qobject_cast<QGridLayout*>(m_dialog->layout())) {
        const int below = rows->rowCount();
        rows->addWidget(label, below, 0);
        rows->addWidget(m_parts, below, 1);
    } else if (m_dialog->layout() != nullptr) {
        m_dialog->layout()->addWidget(label);
        m_dialog->layout()->addWidget(m_parts);
    }
    if (auto* formats = m_dialog->findChild<QComboBox*>("fileTypeCombo")) QWidget::setTabOrder(formats, m_parts);
    connect(m_parts, &QComboBox::currentIndexChanged, this, [this] {
        if (hasSuggestedName()) suggestName();
    });
}

// The name follows the format that is chosen, as the format follows the name where that is typed.
void ExportQuestion::useFilter(const QString& filter) {
    for (std::size_t i = 0; i < m_choices.size(); ++i)
        if (m_choices[i].filter() == filter) m_choice = i;
    if (m_parts != nullptr) m_parts->setEnabled(m_choices[m_choice].ofWorkers);
    m_dialog->setDefaultSuffix(m_choices[m_choice].ending());
    suggestName();
}

void ExportQuestion::suggestName() {
    m_suggested = m_choices[m_choice].nameFor(m_session, rank());
    m_dialog->selectFile(m_suggested);
}

// What a person has typed stays.
bool ExportQuestion::hasSuggestedName() const {
    const QStringList files = m_dialog->selectedFiles();
    return files.size() == 1 && QFileInfo(files.front()).fileName() == m_suggested;
}

qint64 ExportQuestion::rank() const {
    return m_parts != nullptr && m_parts->isEnabled() ? m_parts->currentData().toLongLong() : kAllRanks;
}

}  // namespace stepscope
