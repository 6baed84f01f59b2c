#include "widgets/timeline/SideBySideDialog.h"

#include <QComboBox>
#include <QGridLayout>
#include <QHBoxLayout>
#include <QPushButton>
#include <QSignalBlocker>
#include <QVBoxLayout>

#include "widgets/panels/ElidedLabel.h"
#include "widgets/panels/experiment/RowParts.h"
#include "widgets/style/Metrics.h"
#include "widgets/timeline/LockedTimelines.h"

namespace stepscope {

SideBySideDialog::SideBySideDialog(QWidget* parent) : QDialog(parent) {
    setWindowTitle("Timelines side by side");
    m_both = new LockedTimelines;
    auto* head = new QGridLayout;
    head->setHorizontalSpacing(space(2));
    head->setVerticalSpacing(space(1));
    head->setColumnStretch(0, 1);
    for (const int side : {0, 1}) {
        const auto at = static_cast<std::size_t>(side);
        m_names[at] = new ElidedLabel(Tone::Normal);
        m_captures[at] = new QComboBox;
        m_captures[at]->setSizeAdjustPolicy(QComboBox::AdjustToContents);
        head->addWidget(m_names[at], side, 0);
        head->addWidget(m_captures[at], side, 1);
        connect(m_captures[at], &QComboBox::activated, this, [this, side](int place) { Q_EMIT captureChosen(side, place); });
    }
    auto* fit = new QPushButton("Show all");
    fit->setAutoDefault(false);
    fit->setToolTip("Show all of both captures (F)");
    auto* close = new QPushButton("Close");
    close->setAutoDefault(false);
    auto* foot = new QHBoxLayout;
    foot->addWidget(fit);
    foot->addStretch(1);
    foot->addWidget(close);
    auto* layout = new QVBoxLayout(this);
    layout->setSpacing(space(2));
    layout->addLayout(head);
    layout->addWidget(m_both, 1);
    layout->addLayout(foot);
    nameForReaders(*m_captures[0], "Capture that A shows");
    nameForReaders(*m_captures[1], "Capture that B shows");
    connect(fit, &QPushButton::clicked, &m_both->a(), &TimelineView::fit);
    connect(close, &QPushButton::clicked, this, &QDialog::close);
}

void SideBySideDialog::ask(const QString& a, const QString& b) {
    m_names[0]->setText("A: " + a);
    m_names[1]->setText("B: " + b);
    for (QComboBox* captures : m_captures) {
        captures->clear();
        captures->setEnabled(false);
    }
    m_both->setSentence("Reading the captured steps.");
    if (!isVisible() && parentWidget() != nullptr) resize(parentWidget()->window()->size() * 0.94);
    show();
    raise();
    activateWindow();
    m_both->a().setFocus();
}

void SideBySideDialog::setCaptures(int side, const QStringList& captures, int shown) {
    QComboBox& list = *m_captures.at(static_cast<std::size_t>(side));
    const QSignalBlocker quiet(list);
    list.clear();
    list.addItems(captures);
    list.setCurrentIndex(shown);
    list.setEnabled(captures.size() > 1);
}

}  // namespace stepscope
