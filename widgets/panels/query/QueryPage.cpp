#include "widgets/panels/query/QueryPage.h"

#include <QClipboard>
#include <QComboBox>
#include <QFileDialog>
#include <QGuiApplication>
#include <QHeaderView>
#include <QKeyEvent>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QSettings>
#include <QSpinBox>
#include <QSplitter>
#include <QStackedWidget>
#include <QStandardPaths>
#include <QTabBar>
#include <QTableView>
#include <QTextBlock>
#include <QToolButton>
#include <algorithm>
#include <utility>

#include "core/analysis/query/QueryPicture.h"
#include "core/base/Format.h"
#include "widgets/charts/query/QueryChart.h"
#include "widgets/panels/LineIcon.h"
#include "widgets/panels/ToneLabel.h"
#include "widgets/panels/query/QueryTable.h"

namespace stepscope {
namespace {

constexpr qint64 kOldResultMs = 400;

QString rowsText(std::size_t rows) {
    return QString("%1 row%2").arg(QString::fromStdString(format::count(static_cast<std::int64_t>(rows))), rows == 1 ? "" : "s");
}

}  // namespace

void QueryPage::setSessions(std::vector<QueriedSession> sessions) {
    m_unavailable.clear();
    if (sessions == m_known && m_sessions->count() > 0) return showState();
    const qint64 kept = session();
    m_known = std::move(sessions);
    const QSignalBlocker quiet(m_sessions);
    m_sessions->clear();
    for (const auto& one : m_known) m_sessions->addItem(QString("%1  %2").arg(one.id).arg(one.name), one.id);
    int at = m_sessions->findData(m_chosen ? kept : m_shown);
    if (at < 0) {
        m_chosen = false;  // what was chosen is gone
        at = m_sessions->findData(m_shown);
    }
    m_sessions->setCurrentIndex(std::max(at, m_known.empty() ? -1 : 0));
    showState();
}

void QueryPage::setUnavailable(const QString& why) {
    m_unavailable = why;
    showState();
}

void QueryPage::setShown(qint64 session) {
    m_shown = session;
    if (session <= 0 || m_chosen) return;
    if (const int at = m_sessions->findData(session); at >= 0) m_sessions->setCurrentIndex(at);
    showState();
}

qint64 QueryPage::session() const {
    return m_sessions->currentData().toLongLong();
}

void QueryPage::runOrStop() {
    if (stop()) return;
    if (session() <= 0) return showState();
    m_asked = m_sql->toPlainText();
    m_told.clear();
    mark(std::nullopt);
    m_running = true;
    m_stopping = false;
    m_since.start();
    m_clock.start();
    showState();
    Q_EMIT runRequested(session(), m_asked, m_seconds->value());
}

bool QueryPage::stop() {
    if (!m_running) return false;
    m_stopping = true;
    showState();
    Q_EMIT stopRequested();
    return true;
}

void QueryPage::setAnswer(const QueryAnswer& answer) {
    m_running = m_stopping = false;
    m_clock.stop();
    m_answer = answer;
    mark(answer.place);
    showResult();
}

// What the program brings is put in the place of what was written; Ctrl+Z brings that back.
void QueryPage::take(int saved) {
    if (saved < 1 || saved > static_cast<int>(m_queries.size())) return;
    QTextCursor all(m_sql->document());
    all.select(QTextCursor::Document);
    all.insertText(QString::fromStdString(m_queries[static_cast<std::size_t>(saved) - 1].sql));
    if (session() <= 0) return showState();
    if (m_running) stop();
    m_running = false;
    runOrStop();
}

// What was changed is no longer the query whose name stands there.
void QueryPage::forgetSaved() {
    const int at = m_saved->currentIndex();
    if (at < 1 || at > static_cast<int>(m_queries.size())) return;
    if (m_sql->toPlainText() != QString::fromStdString(m_queries[static_cast<std::size_t>(at) - 1].sql)) m_saved->setCurrentIndex(0);
}

void QueryPage::insert(const QString& name) {
    m_sql->insertPlainText(name);
    m_sql->setFocus(Qt::OtherFocusReason);
}

// Underlines what is wrong; the place counts characters, the text of the editor UTF-16.
void QueryPage::mark(const std::optional<QueryPlace>& place) {
    QList<QTextEdit::ExtraSelection> marks;
    if (place && m_sql->toPlainText() == m_asked) {
        const QTextBlock line = m_sql->document()->findBlockByNumber(static_cast<int>(place->line) - 1);
        if (line.isValid()) {
            const QString text = line.text();
            qsizetype at = 0;
            for (std::int64_t character = 1; character < place->column && at < text.size(); ++character)
                at += text.at(at).isHighSurrogate() && at + 1 < text.size() ? 2 : 1;
            QTextEdit::ExtraSelection mark;
            mark.cursor = QTextCursor(line);
            mark.cursor.setPosition(line.position() + static_cast<int>(at));
            m_sql->setTextCursor(mark.cursor);
            mark.cursor.movePosition(at < text.size() ? QTextCursor::EndOfWord : QTextCursor::NoMove, QTextCursor::KeepAnchor);
            if (!mark.cursor.hasSelection()) mark.cursor.movePosition(QTextCursor::NextCharacter, QTextCursor::KeepAnchor);
            mark.format.setUnderlineStyle(QTextCharFormat::WaveUnderline);
            mark.format.setUnderlineColor(toneColour(Tone::Error));
            marks << mark;
        }
    }
    m_sql->setExtraSelections(marks);
}

void QueryPage::showResult() {
    m_rows->setResult(m_answer.result);
    m_table->horizontalHeader()->setSortIndicator(-1, Qt::AscendingOrder);
    m_table->scrollToTop();
    const QSignalBlocker quiet(m_columns);
    m_columns->clear();
    if (m_answer.result) {
        m_table->resizeColumnsToContents();
        m_widths.clear();
        for (int column = 0; column < m_rows->columnCount(); ++column)
            m_widths.push_back({.natural = m_table->columnWidth(column) + 8, .given = m_table->columnWidth(column)});
        widenWords();
        const auto drawable = drawableColumns(*m_answer.result);
        if (drawable.size() > 1) m_columns->addItem("all columns", -1);
        for (const std::size_t column : drawable)
            m_columns->addItem(queryCell(QueryValue(m_answer.result->columns[column])), static_cast<int>(column));
    }
    showPicture();
}

// What is cut gets the room that is free; a width that a person chose stays.
void QueryPage::widenWords() {
    const int widest = m_table->fontMetrics().averageCharWidth() * 44;
    int room = m_table->viewport()->width();
    for (std::size_t column = 0; column < m_widths.size(); ++column) {
        ColumnWidth& one = m_widths[column];
        const int now = m_table->columnWidth(static_cast<int>(column));
        one.chosen = one.chosen || now != one.given;
        one.given = one.chosen ? now : std::min(one.natural, widest);
        room -= one.given;
    }
    for (std::size_t column = 0; column < m_widths.size(); ++column) {
        ColumnWidth& one = m_widths[column];
        const int more = one.chosen ? 0 : std::clamp(room, 0, one.natural - one.given);
        room -= more;
        one.given += more;
        m_table->setColumnWidth(static_cast<int>(column), one.given);
        one.given = m_table->columnWidth(static_cast<int>(column));
    }
}

void QueryPage::showPicture() {
    const int only = m_columns->currentData().isValid() ? m_columns->currentData().toInt() : -1;
    QueryPicture picture;
    if (m_answer.result && m_forms->currentIndex() == 1)
        picture = pictureOf(*m_answer.result, only >= 0 ? std::optional(static_cast<std::size_t>(only)) : std::nullopt);
    m_note->setText(QString::fromStdString(picture.note));
    m_chart->setPicture(std::move(picture));
    showState();
}

QString QueryPage::resultSentence() const {
    const QueryResult& result = *m_answer.result;
    QString text = QString("%1 of session %2 in %3.")
                       .arg(rowsText(result.rows.size()))
                       .arg(m_answer.session)
                       .arg(QString::fromStdString(format::milliseconds(result.seconds * 1e3)));
    if (result.more)
        text += QString(" There are more: the page keeps %1; WHERE, GROUP BY or LIMIT chooses which, query --csv on the command line gives all.")
                    .arg(rowsText(result.rows.size()));
    if (!result.rows.empty()) return text;
    return text + (m_answer.captured
                       ? " Nothing of the session fits what is asked."
                       : " Nothing was captured in this session, so the views of captures (op, kernel, slice and the like) are empty; steps, "
                         "validations and the like have what the run stored. “Capture now” on the page Operations captures steps.");
}

QString QueryPage::stateSentence() const {
    if (m_running && m_stopping) return "Ending the query.";
    if (m_running) return QString("Running for %1 s. Esc or “Stop” ends it.").arg(static_cast<double>(m_since.elapsed()) / 1e3, 0, 'f', 1);
    if (!m_unavailable.isEmpty()) return m_unavailable;
    if (m_known.empty()) return "There is no session to ask yet: press Run, or drop a trace of another program on the window.";
    if (!m_told.isEmpty()) return m_told;
    if (m_answer.result) return resultSentence();
    if (m_answer.cancelled) return "The query was cancelled; nothing of it is shown.";
    if (!m_answer.problem.isEmpty()) return m_answer.problem;
    return "Choose a saved query, or write a SELECT over what “Views” lists; Ctrl+Return runs it.";
}

void QueryPage::showState() {
    const bool some = m_answer.result != nullptr,
               bad = !m_running && m_told.isEmpty() && !some && !m_answer.cancelled && (!m_answer.problem.isEmpty() || !m_unavailable.isEmpty());
    m_sentence->setTone(bad ? Tone::Error : Tone::Muted);
    m_sentence->setText(stateSentence());
    m_sentence->setToolTip(QString("A query only reads. It is ended after the time beside “Run”, at %1 of memory, at %2 of result and at %3.")
                               .arg(QString::fromStdString(format::bytes({m_limits.memory})),
                                    QString::fromStdString(format::bytes({m_limits.resultBytes})),
                                    rowsText(static_cast<std::size_t>(m_limits.rows))));
    m_run->setText(m_running ? "Stop" : "Run");
    m_run->setShortcut(QKeySequence("Ctrl+Return"));  // a new text clears it
    m_run->setIcon(lineIcon(m_running ? "stop" : "run"));
    m_run->setToolTip(m_running ? "End the query (Esc)" : "Run the query (Ctrl+Return)");
    m_run->setAccessibleName(m_running ? "Stop the query" : "Run the query");
    m_run->setEnabled(m_running ? !m_stopping : session() > 0);
    m_sessions->setEnabled(!m_known.empty());
    const bool rows = some && !m_answer.result->rows.empty(), chart = m_forms->currentIndex() == 1;
    m_result->setVisible(some);
    m_result->setEnabled(!m_running || m_since.elapsed() < kOldResultMs);  // of the query before: what comes at once does not flicker
    m_copy->setEnabled(rows);
    m_csv->setEnabled(some);
    m_columns->setVisible(chart && m_columns->count() > 1);
    m_note->setVisible(chart && !m_note->text().isEmpty());
    m_stack->setCurrentIndex(chart ? 1 : 0);
}

void QueryPage::copy() {
    bool cut = false;
    QGuiApplication::clipboard()->setText(m_rows->asText(m_table->selectionModel()->selection(), &cut));
    m_told = cut                                         ? "Copied as far as a clipboard should hold; “Save CSV…” writes all rows."
             : m_table->selectionModel()->hasSelection() ? "Copied what is selected."
                                                         : "Copied all rows.";
    showState();
    m_told.clear();  // until the next thing is told
}

void QueryPage::askWhere() {
    const QString folder = QStandardPaths::writableLocation(QStandardPaths::DocumentsLocation);
    auto* dialog =
        new QFileDialog(this, "Save the result as CSV", QString("%1/session-%2-query.csv").arg(folder).arg(m_answer.session), "CSV (*.csv)");
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setAcceptMode(QFileDialog::AcceptSave);
    dialog->setDefaultSuffix("csv");
    connect(dialog, &QFileDialog::fileSelected, this, &QueryPage::csvRequested);
    dialog->open();
}

// Esc ends what runs, else it leaves the field: on the page itself the window's single keys act again.
bool QueryPage::eventFilter(QObject* watched, QEvent* event) {
    if (m_table != nullptr && watched == m_table->viewport()) {
        if (event->type() == QEvent::Resize) widenWords();
        return false;
    }
    if (event->type() != QEvent::KeyPress || static_cast<QKeyEvent*>(event)->key() != Qt::Key_Escape) return QWidget::eventFilter(watched, event);
    if (!stop()) setFocus(Qt::ShortcutFocusReason);
    return true;
}

QString QueryPage::sentence() const {
    return m_sentence->text();
}

void QueryPage::save(QSettings& settings) const {
    settings.setValue("query/sql", m_sql->toPlainText());
    settings.setValue("query/seconds", m_seconds->value());
    settings.setValue("query/chart", m_forms->currentIndex() == 1);
    settings.setValue("query/split", m_split->saveState());
}

void QueryPage::restore(const QSettings& settings) {
    m_sql->setPlainText(settings.value("query/sql", m_sql->toPlainText()).toString());
    m_seconds->setValue(settings.value("query/seconds", m_seconds->value()).toInt());
    m_forms->setCurrentIndex(settings.value("query/chart", false).toBool() ? 1 : 0);
    m_split->restoreState(settings.value("query/split").toByteArray());
}

}  // namespace stepscope
