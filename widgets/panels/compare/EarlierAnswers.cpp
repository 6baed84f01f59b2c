#include "widgets/panels/compare/EarlierAnswers.h"

#include <QVBoxLayout>
#include <algorithm>

#include "widgets/panels/TitleButton.h"
#include "widgets/panels/ToneLabel.h"

namespace stepscope {

EarlierAnswers::EarlierAnswers(QWidget* parent) : QWidget(parent) {
    m_heading = sentenceLabel(Tone::Muted);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(2);
    layout->addWidget(m_heading);
    m_list = new QVBoxLayout;
    m_list->setSpacing(2);
    layout->addLayout(m_list);
    hide();
}

void EarlierAnswers::setAnswers(const std::vector<EarlierRow>& rows, std::size_t count) {
    const bool same = count == m_count && std::ranges::equal(rows, m_shown, [](const EarlierRow& a, const EarlierRow& b) {
                          return a.session == b.session && a.number == b.number && a.words == b.words;
                      });
    if (same && (count > 0) == isVisibleTo(parentWidget())) return;  // a link that is rebuilt under the mouse cannot be clicked
    m_shown = rows;
    m_count = count;
    while (QLayoutItem* item = m_list->takeAt(0)) {
        delete item->widget();
        delete item;
    }
    const std::size_t named = std::min(kMost, rows.size());
    for (std::size_t i = 0; i < named; ++i) {
        auto* link = new TitleButton(QString("session %1, %2: %3").arg(rows[i].session).arg(rows[i].when, rows[i].words));
        link->setLink(true);
        link->setFocusPolicy(Qt::TabFocus);
        link->setToolTip("Open it");
        connect(link, &TitleButton::clicked, this, [this, session = rows[i].session, number = rows[i].number] { Q_EMIT chosen(session, number); });
        m_list->addWidget(link);
    }
    m_heading->setText(count == 1 ? QString("This was asked once before on this machine:")
                                  : QString("This was asked %1 times before on this machine%2:")
                                        .arg(count)
                                        .arg(count > named ? QString(", the newest %1 are").arg(named) : QString()));
    setVisible(count > 0);
}

}  // namespace stepscope
