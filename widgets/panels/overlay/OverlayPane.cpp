#include "widgets/panels/overlay/OverlayPane.h"

#include <QComboBox>
#include <QEvent>
#include <QHBoxLayout>
#include <QLabel>
#include <QMenu>
#include <QProgressBar>
#include <QSignalBlocker>
#include <QToolButton>
#include <QVBoxLayout>

#include "core/analysis/overlay/RunsOverlay.h"
#include "widgets/panels/ElidedLabel.h"
#include "widgets/panels/LineIcon.h"
#include "widgets/panels/overlay/RunsTable.h"
#include "widgets/style/Metrics.h"

namespace stepscope {
namespace {
constexpr int kPatienceMs = 200;
constexpr int kWholeTitle = 620;  // of the bar; narrower: fewer words
}  // namespace

OverlayPane::OverlayPane(QWidget* page) : QObject(page) {
    m_head = new QWidget(page);
    m_head->setAccessibleName("Sessions laid over each other");
    auto* lines = new QVBoxLayout(m_head);
    lines->setContentsMargins(space(2), space(1), space(2), 0);
    lines->setSpacing(2);
    auto* row = new QHBoxLayout;
    row->setSpacing(space(1));
    m_title = new QLabel;
    m_title->setFont(headFont(m_title->font()));
    m_progress = new QProgressBar;
    m_progress->setRange(0, 1000);
    m_progress->setTextVisible(false);
    m_progress->setFixedSize(64, 8);
    m_progress->setAccessibleName("Reading the sessions");
    QSizePolicy keeps = m_progress->sizePolicy();
    keeps.setRetainSizeWhenHidden(true);  // nothing in the bar jumps
    m_progress->setSizePolicy(keeps);
    m_progress->hide();
    m_grouping = new QComboBox;
    m_grouping->setAccessibleName("Group the runs by");
    m_grouping->setToolTip("Runs that have one value of a setting become one line: their median, in a band that holds them all");
    m_grouping->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    m_grouping->setMinimumContentsLength(10);
    m_columns = new QToolButton;
    m_columns->setText("Columns");
    m_columns->setToolTip("Which columns the table of runs has");
    m_columns->setAccessibleName("Columns of the table of runs");
    m_columns->setAutoRaise(true);
    m_columns->setFocusPolicy(Qt::TabFocus);
    m_close = new QToolButton;
    m_close->setText("Close");
    m_close->setIcon(lineIcon("close"));
    m_close->setToolTip("Back to the live charts (Esc)");
    m_close->setAccessibleName("Close the sessions laid over each other");
    m_close->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
    m_close->setFocusPolicy(Qt::TabFocus);
    row->addWidget(m_title);
    row->addWidget(m_progress);
    row->addStretch(1);
    row->addWidget(m_grouping);
    row->addWidget(m_columns);
    row->addWidget(m_close);
    m_remark = new ElidedLabel(Tone::Muted, 2);
    m_remark->hide();
    lines->addLayout(row);
    lines->addWidget(m_remark);
    m_head->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
    m_table = new RunsTable(page);
    m_head->installEventFilter(this);
    m_patience.setSingleShot(true);
    m_patience.setInterval(kPatienceMs);
    connect(&m_patience, &QTimer::timeout, this, [this] {
        m_progress->setVisible(m_share < 1);
        say();
    });
    connect(m_close, &QToolButton::clicked, this, &OverlayPane::closeRequested);
    connect(m_columns, &QToolButton::clicked, this, [this] { m_table->columnsMenu()->exec(m_columns->mapToGlobal(QPoint(0, m_columns->height()))); });
    connect(m_grouping, &QComboBox::activated, this, [this](int at) { Q_EMIT groupRequested(m_grouping->itemData(at).toString()); });
}

void OverlayPane::begin() {
    m_read = m_chosen = 0;
    m_table->setRowCount(0);
    m_progress->hide();
    setRemark({});
    m_share = 0;
    m_patience.start();
}

void OverlayPane::show(const RunsOverlay& overlay) {
    m_chosen = overlay.slots().size();
    m_read = overlay.read();
    const QSignalBlocker quiet(m_grouping);
    m_grouping->clear();
    m_grouping->addItem("not grouped", QString());
    for (const DifferingKeys& key : overlay.keys()) m_grouping->addItem("by " + QString::fromStdString(key.key), QString::fromStdString(key.key));
    m_grouping->setCurrentIndex(std::max(0, m_grouping->findData(QString::fromStdString(overlay.groupKey()))));
    m_grouping->setEnabled(m_grouping->count() > 1);
    m_columns->setEnabled(m_read > 0);
    m_table->show(overlay);
    say();
}

void OverlayPane::say() {
    const bool narrow = m_head->width() < kWholeTitle;
    if (showsProgress())
        m_title->setText(QString(narrow ? "%1 of %2" : "reading %1 of %2 sessions").arg(std::min(m_read + 1, m_chosen)).arg(m_chosen));
    else
        m_title->setText(narrow && m_chosen != 1 ? QString("%1 sessions").arg(m_chosen) : title());
}

bool OverlayPane::eventFilter(QObject* watched, QEvent* event) {
    if (watched == m_head && event->type() == QEvent::Resize) say();
    return QObject::eventFilter(watched, event);
}

QString OverlayPane::title() const {
    return m_chosen == 1 ? QString("1 session") : QString("%1 sessions laid over each other").arg(m_chosen);
}

void OverlayPane::setProgress(double share) {
    m_share = share;
    m_progress->setValue(static_cast<int>(share * 1000));
    if (share < 1) return;
    m_patience.stop();
    m_progress->hide();
    say();
}

bool OverlayPane::showsProgress() const {
    return m_share < 1 && !m_progress->isHidden();
}

void OverlayPane::setRemark(const QString& sentence, const QString& more) {
    m_remark->setText(sentence);
    m_remark->setMore(more);
    m_remark->setVisible(!sentence.isEmpty());
}

QString OverlayPane::remark() const {
    return m_remark->text();
}

}  // namespace stepscope
