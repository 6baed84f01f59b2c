// The parts of the page Query and where they stand.
#include <QComboBox>
#include <QFontDatabase>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QMenu>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QScrollArea>
#include <QShortcut>
#include <QSpinBox>
#include <QSplitter>
#include <QStackedWidget>
#include <QTabBar>
#include <QTableView>
#include <QToolButton>
#include <QVBoxLayout>
#include <algorithm>
#include <cmath>

#include "widgets/charts/query/QueryChart.h"
#include "widgets/panels/ToneLabel.h"
#include "widgets/panels/query/QueryPage.h"
#include "widgets/panels/query/QueryTable.h"
#include "widgets/style/Metrics.h"
#include "widgets/style/RowTable.h"

namespace stepscope {
namespace {

constexpr int kTimeTellingMs = 500;  // from one telling of how long a query runs to the next
constexpr int kMostQuerySeconds = 3600;

QComboBox* narrowList(const QString& name) {
    auto* list = new QComboBox;
    list->setAccessibleName(name);
    list->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    list->setMinimumContentsLength(8);
    list->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    return list;
}

}  // namespace

QueryPage::QueryPage(QWidget* parent) : QWidget(parent) {
    setAccessibleName("Query");
    m_clock.setInterval(kTimeTellingMs);
    connect(&m_clock, &QTimer::timeout, this, &QueryPage::showState);
    m_split = new QSplitter(Qt::Vertical);
    m_split->setChildrenCollapsible(false);
    m_split->addWidget(buildQuestion());
    m_split->addWidget(buildResult());
    m_split->setStretchFactor(0, 2);
    m_split->setStretchFactor(1, 3);
    m_split->setSizes({2000, 3000});  // in this proportion, however little there is in the result yet
    const std::vector<QWidget*> order{m_sessions, m_saved, m_sql, m_run, m_seconds, m_views, m_forms, m_columns, m_copy, m_csv, m_table, m_chart};
    for (std::size_t i = 1; i < order.size(); ++i) setTabOrder(order[i - 1], order[i]);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(space(3), space(3), space(3), space(2));
    layout->addWidget(m_split);
    showState();
}

QWidget* QueryPage::buildQuestion() {
    m_sessions = narrowList("Session that is asked");
    m_sessions->setToolTip("The session that is asked: the one that is shown, until you choose another");
    m_saved = narrowList("Saved queries");
    m_saved->setToolTip("Queries that come with the program; one that is chosen is run, and can be changed");
    m_views = new QToolButton;
    m_views->setText("Views");
    m_views->setAccessibleName("Views and their columns");
    m_views->setToolTip("What can be read; a name that is chosen is written into the query");
    m_views->setPopupMode(QToolButton::InstantPopup);
    m_views->setFocusPolicy(Qt::StrongFocus);
    m_views->setMinimumWidth(m_views->fontMetrics().horizontalAdvance("Views") + space(8));  // the arrow beside the word
    m_sql = new QPlainTextEdit;
    m_sql->setAccessibleName("SQL");
    m_sql->setFont(QFontDatabase::systemFont(QFontDatabase::FixedFont));
    m_sql->setPlaceholderText("SELECT name, count(*) AS calls FROM op GROUP BY name ORDER BY calls DESC");
    m_sql->setTabChangesFocus(true);
    m_sql->setMinimumHeight(m_sql->fontMetrics().height() * 3 + 12);
    m_sql->installEventFilter(this);
    m_run = new QPushButton("Run");
    m_run->setAutoDefault(false);
    const QFontMetrics metrics = m_run->fontMetrics();  // neither word moves what stands beside the button
    m_run->setMinimumWidth(std::max(metrics.horizontalAdvance("Run"), metrics.horizontalAdvance("Stop")) + 44);
    m_seconds = new QSpinBox;
    m_seconds->setRange(1, kMostQuerySeconds);
    m_seconds->setValue(static_cast<int>(std::lround(m_limits.seconds)));
    m_seconds->setPrefix("at most ");
    m_seconds->setSuffix(" s");
    m_seconds->setAccessibleName("Seconds that a query may take");
    m_seconds->setToolTip("A query that takes longer is ended");
    m_seconds->installEventFilter(this);
    m_sentence = sentenceLabel(Tone::Muted);
    m_sentence->setAccessibleName("State of the query");

    auto* question = new QWidget;
    auto* chosen = new QHBoxLayout;
    chosen->setSpacing(space(2));
    chosen->addWidget(m_sessions, 1);
    chosen->addWidget(m_saved, 1);
    auto* run = new QHBoxLayout;
    run->setSpacing(space(2));
    run->addWidget(m_run);
    run->addWidget(m_seconds);
    run->addStretch(1);
    run->addWidget(m_views);
    auto* layout = new QVBoxLayout(question);
    layout->setContentsMargins(0, 0, 0, space(1));
    layout->setSpacing(space(2));
    layout->addLayout(chosen);
    layout->addWidget(m_sql, 1);
    layout->addLayout(run);
    layout->addWidget(m_sentence);
    connect(m_run, &QPushButton::clicked, this, &QueryPage::runOrStop);
    connect(m_saved, &QComboBox::activated, this, &QueryPage::take);
    connect(m_sql, &QPlainTextEdit::textChanged, this, &QueryPage::forgetSaved);
    connect(m_sessions, &QComboBox::activated, this, [this] {
        m_chosen = true;
        showState();
    });
    return question;
}

void QueryPage::buildTable() {
    m_rows = new QueryTable(this);
    m_table = new QTableView;
    m_table->setModel(m_rows);
    m_table->setAccessibleName("Rows of the result");
    m_table->horizontalHeader()->setSortIndicator(-1, Qt::AscendingOrder);
    m_table->horizontalHeader()->setSortIndicatorClearable(true);
    m_table->setSortingEnabled(true);
    styleRows(*m_table, 5);
    m_table->setSelectionBehavior(QAbstractItemView::SelectItems);  // cells are copied
    m_table->setTextElideMode(Qt::ElideMiddle);
    m_table->viewport()->installEventFilter(this);
    m_table->setHorizontalScrollMode(QAbstractItemView::ScrollPerPixel);
    m_table->setMinimumHeight(44);
    m_table->verticalHeader()->setSectionResizeMode(QHeaderView::Fixed);  // none of a million rows is measured
    m_table->horizontalHeader()->setResizeContentsPrecision(100);
    auto* copying = new QShortcut(QKeySequence::Copy, m_table);
    copying->setContext(Qt::WidgetWithChildrenShortcut);
    connect(copying, &QShortcut::activated, this, &QueryPage::copy);
}

QWidget* QueryPage::buildResult() {
    buildTable();
    m_forms = new QTabBar;
    m_forms->setAccessibleName("Forms of the result");
    m_forms->setExpanding(false);
    m_forms->setDrawBase(false);
    m_forms->setDocumentMode(true);
    m_forms->addTab("Table");
    m_forms->addTab("Chart");
    m_forms->setTabToolTip(1, "Names or times along x, the numbers of the other columns along y");
    m_columns = narrowList("Column that is drawn");
    m_columns->setToolTip("Draws one column alone");
    m_copy = new QPushButton("Copy");
    m_copy->setAutoDefault(false);
    m_copy->setToolTip("Copies what is selected, or all rows, as text with tabs (Ctrl+C)");
    m_copy->setAccessibleName("Copy the rows as text");
    m_csv = new QPushButton("Save CSV…");
    m_csv->setAutoDefault(false);
    m_csv->setToolTip("Writes all rows that are here to a CSV file");
    m_chart = new QueryChart;
    auto* scrolled = new QScrollArea;
    scrolled->setWidget(m_chart);
    scrolled->setWidgetResizable(true);
    scrolled->setFrameShape(QFrame::NoFrame);
    scrolled->setFocusPolicy(Qt::NoFocus);
    m_note = sentenceLabel(Tone::Muted);
    m_note->setAccessibleName("What the chart leaves out");
    m_stack = new QStackedWidget;
    m_stack->addWidget(m_table);
    m_stack->addWidget(scrolled);

    m_result = new QWidget;
    auto* head = new QHBoxLayout;
    head->setSpacing(space(2));
    head->addWidget(m_forms);
    head->addWidget(m_columns, 1);
    head->addStretch(1);
    head->addWidget(m_copy);
    head->addWidget(m_csv);
    auto* inner = new QVBoxLayout(m_result);
    inner->setContentsMargins(0, 0, 0, 0);
    inner->setSpacing(space(1));
    inner->addLayout(head);
    inner->addWidget(m_note);
    inner->addWidget(m_stack, 1);
    auto* place = new QWidget;  // keeps its room while there is no result
    auto* layout = new QVBoxLayout(place);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addWidget(m_result);
    connect(m_forms, &QTabBar::currentChanged, this, &QueryPage::showPicture);
    connect(m_columns, &QComboBox::currentIndexChanged, this, &QueryPage::showPicture);
    connect(m_copy, &QPushButton::clicked, this, &QueryPage::copy);
    connect(m_csv, &QPushButton::clicked, this, &QueryPage::askWhere);
    return place;
}

void QueryPage::setQueries(const std::vector<QueryView>& views, std::vector<SavedQuery> saved, const QueryLimits& limits) {
    m_queries = std::move(saved);
    m_limits = limits;
    m_seconds->setValue(static_cast<int>(std::lround(limits.seconds)));
    m_saved->clear();
    m_saved->addItem("Saved queries…");
    for (const auto& one : m_queries) m_saved->addItem(QString::fromStdString(one.title));
    auto* menu = new QMenu(m_views);
    menu->setToolTipsVisible(true);
    for (const auto& view : views) {
        const QString name = QString::fromStdString(view.name);
        QMenu* columns = menu->addMenu(name);
        columns->menuAction()->setToolTip(QString::fromStdString(view.about));
        columns->setToolTipsVisible(true);
        columns->addAction(QString("%1: %2").arg(name, QString::fromStdString(view.about)), this, [this, name] { insert(name); });
        columns->addSeparator();
        for (const auto& column : view.columns) {
            const QString what = QString::fromStdString(column.name);
            QAction* action =
                columns->addAction(QString("%1\t%2").arg(what, QString::fromStdString(column.type)), this, [this, what] { insert(what); });
            action->setToolTip(QString::fromStdString(column.about));
        }
    }
    m_views->setMenu(menu);
    showState();
}

}  // namespace stepscope
