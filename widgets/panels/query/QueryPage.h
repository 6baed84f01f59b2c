// The page Query: one SELECT over one session, written or chosen from those that come with the program, its rows as a table, a chart or CSV. It runs
// nothing itself: it says what is asked and is told the answer. GUI thread.
#pragma once
#include <QElapsedTimer>
#include <QTimer>
#include <QWidget>
#include <memory>
#include <optional>
#include <vector>

#include "core/analysis/query/QueryResult.h"

class QComboBox;
class QPlainTextEdit;
class QPushButton;
class QSettings;
class QSpinBox;
class QSplitter;
class QStackedWidget;
class QTabBar;
class QTableView;
class QToolButton;

namespace stepscope {

class QueryChart;
class QueryTable;
class ToneLabel;

struct QueriedSession {
    qint64 id = 0;
    QString name;
    bool operator==(const QueriedSession&) const = default;
};

struct QueryAnswer {
    qint64 session = 0;
    std::shared_ptr<const QueryResult> result;  // null: there is none, and
    QString problem;                            //   this is why
    std::optional<QueryPlace> place;            //   and where, in what was asked
    bool cancelled = false;                     // by a person
    bool captured = true;                       // whether the session has captured steps; asked where there is no row
};

class QueryPage : public QWidget {
    Q_OBJECT
public:
    explicit QueryPage(QWidget* parent = nullptr);

    void setQueries(const std::vector<QueryView>& views, std::vector<SavedQuery> saved, const QueryLimits& limits);
    void setSessions(std::vector<QueriedSession> sessions);
    void setUnavailable(const QString& why);  // instead of sessions
    void setShown(qint64 session);            // what the window shows is asked, until a person chooses another
    void setAnswer(const QueryAnswer& answer);

    bool isRunning() const { return m_running; }
    bool stop();  // whether something ran that is to end now
    QString sentence() const;
    qint64 session() const;
    void save(QSettings& settings) const;
    void restore(const QSettings& settings);

    QComboBox* sessions() const { return m_sessions; }
    QComboBox* saved() const { return m_saved; }
    QToolButton* viewsButton() const { return m_views; }
    QPlainTextEdit* editor() const { return m_sql; }
    QPushButton* runButton() const { return m_run; }
    QSpinBox* seconds() const { return m_seconds; }
    QTabBar* forms() const { return m_forms; }
    QTableView* table() const { return m_table; }
    QueryChart* chart() const { return m_chart; }
    QComboBox* columns() const { return m_columns; }
    QPushButton* copyButton() const { return m_copy; }
    QPushButton* csvButton() const { return m_csv; }

Q_SIGNALS:
    void runRequested(qint64 session, const QString& sql, int seconds);
    void stopRequested();
    void csvRequested(const QString& path);

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    struct ColumnWidth {
        int natural = 0, given = 0;  // as wide as what is in it; as it was made last
        bool chosen = false;         // by a person
    };
    QWidget* buildQuestion();
    QWidget* buildResult();
    void buildTable();
    void runOrStop();
    void take(int saved);
    void forgetSaved();
    void insert(const QString& name);
    void mark(const std::optional<QueryPlace>& place);
    void showResult();
    void showPicture();
    void widenWords();
    void showState();
    QString stateSentence() const;
    QString resultSentence() const;
    void copy();
    void askWhere();

    std::vector<QueriedSession> m_known;
    std::vector<SavedQuery> m_queries;
    QueryLimits m_limits;
    QString m_unavailable, m_asked, m_told;  // asked: the text that runs or ran; told: what became of a copy
    QueryAnswer m_answer;
    qint64 m_shown = 0;
    bool m_chosen = false;  // a person chose the session
    bool m_running = false, m_stopping = false;
    QElapsedTimer m_since;
    QTimer m_clock;
    QComboBox *m_sessions, *m_saved, *m_columns;
    QToolButton* m_views;
    QPlainTextEdit* m_sql;
    QPushButton *m_run, *m_copy, *m_csv;
    QSpinBox* m_seconds;
    ToneLabel* m_sentence;
    ToneLabel* m_note;
    QTabBar* m_forms;
    QStackedWidget* m_stack;
    QueryTable* m_rows;
    std::vector<ColumnWidth> m_widths;
    QTableView* m_table = nullptr;
    QueryChart* m_chart;
    QWidget* m_result;
    QSplitter* m_split;
};

}  // namespace stepscope
