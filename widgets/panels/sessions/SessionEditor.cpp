#include "widgets/panels/sessions/SessionEditor.h"

#include <QFormLayout>
#include <QKeyEvent>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QPushButton>

#include "widgets/style/Metrics.h"

namespace stepscope {

SessionEditor::SessionEditor(QWidget* parent) : QWidget(parent) {
    m_name = new QLineEdit;
    m_tags = new QLineEdit;
    m_tags->setPlaceholderText("separated by commas");
    m_note = new QPlainTextEdit;
    m_note->setFixedHeight(64);
    m_note->setTabChangesFocus(true);
    auto* save = new QPushButton("Save");
    auto* cancel = new QPushButton("Cancel");
    auto* buttons = new QHBoxLayout;
    buttons->addStretch();
    buttons->addWidget(cancel);
    buttons->addWidget(save);
    auto* layout = new QFormLayout(this);
    layout->setContentsMargins(space(2), space(2), space(2), space(2));
    layout->addRow("&Name", m_name);
    layout->addRow("&Tags", m_tags);
    layout->addRow("N&ote", m_note);
    layout->addRow(buttons);
    connect(save, &QPushButton::clicked, this, &SessionEditor::accept);
    connect(cancel, &QPushButton::clicked, this, &QWidget::hide);
    connect(m_name, &QLineEdit::returnPressed, this, &SessionEditor::accept);
    connect(m_tags, &QLineEdit::returnPressed, this, &SessionEditor::accept);
    hide();
}

void SessionEditor::edit(const SessionRow& row, Field first) {
    m_before = row;
    m_name->setText(row.name);
    m_tags->setText(row.tags.join(", "));
    m_note->setPlainText(row.notes);
    show();
    QWidget* field = first == Field::Name ? static_cast<QWidget*>(m_name) : first == Field::Tags ? static_cast<QWidget*>(m_tags) : m_note;
    field->setFocus();
    if (first == Field::Name) m_name->selectAll();
}

void SessionEditor::accept() {
    QStringList tags;
    for (const QString& tag : m_tags->text().split(',', Qt::SkipEmptyParts))
        if (!tag.trimmed().isEmpty()) tags << tag.trimmed();
    const QString name = m_name->text().trimmed(), notes = m_note->toPlainText();
    hide();
    if (!name.isEmpty() && name != m_before.name) Q_EMIT renamed(m_before.id, name);
    if (tags != m_before.tags || notes != m_before.notes) Q_EMIT annotated(m_before.id, notes, tags);
}

void SessionEditor::keyPressEvent(QKeyEvent* event) {
    if (event->key() == Qt::Key_Escape) return hide();
    QWidget::keyPressEvent(event);
}

}  // namespace stepscope
