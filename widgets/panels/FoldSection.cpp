#include "widgets/panels/FoldSection.h"

#include <QHBoxLayout>
#include <QSettings>
#include <QToolButton>
#include <QVBoxLayout>

#include "widgets/panels/LineIcon.h"
#include "widgets/panels/ToneLabel.h"

namespace stepscope {

FoldSection::FoldSection(const QString& title, bool openAtFirst, QWidget* parent) : QWidget(parent), m_key("fold/" + title) {
    m_open = QSettings().value(m_key, openAtFirst).toBool();
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);

    auto* line = new QHBoxLayout;
    m_header = new QToolButton;
    m_header->setAutoRaise(true);
    m_header->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
    m_header->setIconSize({12, 12});
    m_header->setText(title);
    m_header->setFocusPolicy(Qt::TabFocus);
    QFont bold = m_header->font();
    bold.setBold(true);
    m_header->setFont(bold);
    m_summary = new ToneLabel(Tone::Muted);
    m_summary->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
    m_summary->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
    line->addWidget(m_header);
    line->addWidget(m_summary, 1);
    layout->addLayout(line);

    m_contents = new QWidget;
    m_body = new QVBoxLayout(m_contents);
    m_body->setContentsMargins(8, 0, 0, 8);
    m_body->setSpacing(2);
    layout->addWidget(m_contents);

    connect(m_header, &QToolButton::clicked, this, [this] {
        setOpen(!m_open);
        QSettings().setValue(m_key, m_open);
    });
    setOpen(m_open);
}

void FoldSection::setOpen(bool open) {
    m_open = open;
    m_contents->setVisible(open);
    m_header->setIcon(lineIcon(open ? "chevron-down" : "chevron-right"));
    m_header->setAccessibleName(m_header->text() + (open ? ", open" : ", folded"));
    showSummary();
}

void FoldSection::setSummary(const QString& summary) {
    m_summaryText = summary;
    showSummary();
}

void FoldSection::showSummary() {
    m_summary->setText(m_summary->fontMetrics().elidedText(m_summaryText, Qt::ElideRight, m_summary->width()));
    m_summary->setToolTip(m_summaryText);
}

void FoldSection::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    showSummary();
}

}  // namespace stepscope
