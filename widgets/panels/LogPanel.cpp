#include "widgets/panels/LogPanel.h"

#include <QListView>
#include <QScrollBar>
#include <QStackedWidget>
#include <QVBoxLayout>

#include "widgets/panels/LogDelegate.h"
#include "widgets/panels/LogModel.h"
#include "widgets/panels/ToneLabel.h"
#include "widgets/style/Metrics.h"

namespace stepscope {

LogPanel::LogPanel(QWidget* parent) : QWidget(parent) {
    m_view = new QListView;
    m_view->setFrameShape(QFrame::NoFrame);
    m_view->setUniformItemSizes(true);
    m_view->setItemDelegate(new LogDelegate(this));
    m_view->setEditTriggers(QAbstractItemView::NoEditTriggers);
    m_view->setTextElideMode(Qt::ElideRight);
    m_view->setAccessibleName("Log");
    m_view->setFont(tabularFont(m_view->font()));
    auto* empty = sentenceLabel(Tone::Muted, "The log is empty. What a run does is told here: switches, validations, checkpoints, warnings.");
    empty->setContentsMargins(space(2), space(2), space(2), space(2));
    empty->setAlignment(Qt::AlignTop | Qt::AlignLeft);
    m_stack = new QStackedWidget;
    m_stack->addWidget(empty);
    m_stack->addWidget(m_view);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addWidget(m_stack);
    setMinimumHeight(48);

    const auto jump = [this](const QModelIndex& index) {
        const qint64 step = index.data(LogModel::StepRole).toLongLong();
        if (step > 0) Q_EMIT jumpToStep(step);
    };
    connect(m_view, &QListView::clicked, this, jump);
    connect(m_view, &QListView::activated, this, jump);
    connect(m_view->verticalScrollBar(), &QScrollBar::valueChanged, this,
            [this](int at) { m_following = at >= m_view->verticalScrollBar()->maximum() - 2; });
}

void LogPanel::setModel(LogModel* model) {
    if (m_model != nullptr) m_model->disconnect(this);
    m_model = model;
    m_view->setModel(model);
    connect(model, &QAbstractItemModel::rowsInserted, this, &LogPanel::grew);
    connect(model, &QAbstractItemModel::modelReset, this, &LogPanel::grew);
    m_following = true;
    grew();
}

// The place where one reads further up stays.
void LogPanel::setCovered(int height) {
    if (height > 0 && !m_following) return;
    const bool following = m_following;
    layout()->setContentsMargins(0, height, 0, 0);
    layout()->activate();
    m_following = following;
    if (m_following) m_view->scrollToBottom();
}

void LogPanel::grew() {
    m_stack->setCurrentIndex(m_model->rowCount() > 0 ? 1 : 0);
    if (m_following) m_view->scrollToBottom();
}

}  // namespace stepscope
