#include "widgets/panels/sessions/SessionsModel.h"

#include <algorithm>
#include <cmath>

#include "core/base/Format.h"
#include "widgets/panels/sessions/RelativeTime.h"
#include "widgets/style/Words.h"

namespace stepscope {
namespace {

bool same(double a, double b) {
    return a == b || (std::isnan(a) && std::isnan(b));
}

QString whatItIs(SessionKind kind) {
    switch (kind) {
        case SessionKind::Run:
            break;
        case SessionKind::Trace:
            return "imported: a double click shows it";
        case SessionKind::Experiment:
            return "an experiment: a double click shows it on the page Compare";
        case SessionKind::Ladder:
            return "a ladder: a double click shows it on the page Ladder";
        case SessionKind::Tune:
            return "a search: a double click shows it on the page Ladder";
    }
    return {};
}

QString tooltip(const SessionRow& row) {
    QStringList lines{row.name, "session " + QString::number(row.id) + ", " + toString(row.state),
                      "started " + absoluteTime(QDateTime::fromMSecsSinceEpoch(row.startedUnixMs))};
    if (!row.host.isEmpty()) lines << "trained on " + row.host;
    if (!row.why.isEmpty()) lines << row.why;
    if (row.kind != SessionKind::Run)
        lines << whatItIs(row.kind);
    else
        lines << QString::fromStdString(format::count(row.steps)) + " steps" +
                     (std::isfinite(row.msPerStep) ? ", median " + QString::fromStdString(format::milliseconds(row.msPerStep)) + " a step"
                                                   : QString());
    if (std::isfinite(row.loss)) lines << QString("loss %1 at the last step").arg(row.loss, 0, 'f', 4);
    if (std::isfinite(row.validationLoss)) lines << QString("validation loss %1").arg(row.validationLoss, 0, 'f', 4);
    if (!row.tags.isEmpty()) lines << "tags: " + row.tags.join(", ");
    if (!row.notes.isEmpty()) lines << row.notes;
    return lines.join('\n');
}

}  // namespace

bool SessionRow::operator==(const SessionRow& other) const {
    return id == other.id && kind == other.kind && name == other.name && notes == other.notes && tags == other.tags && state == other.state &&
           why == other.why && startedUnixMs == other.startedUnixMs && steps == other.steps && same(msPerStep, other.msPerStep) &&
           same(tokensPerSecond, other.tokensPerSecond) && same(loss, other.loss) && same(validationLoss, other.validationLoss) &&
           config == other.config && host == other.host && severalWorkers == other.severalWorkers && isOfOneKind == other.isOfOneKind &&
           here == other.here;
}

void SessionsModel::setRows(std::vector<SessionRow> rows) {
    std::ranges::stable_sort(rows, [](const SessionRow& a, const SessionRow& b) {
        if (a.here != b.here) return a.here;
        return a.startedUnixMs != b.startedUnixMs ? a.startedUnixMs > b.startedUnixMs : a.id > b.id;
    });
    const bool sameSessions = std::ranges::equal(rows, m_rows, {}, &SessionRow::id, &SessionRow::id);
    if (!sameSessions) {
        // New and deleted sessions are rare; the panel puts the selection back by id.
        beginResetModel();
        m_rows = std::move(rows);
        endResetModel();
        return;
    }
    for (std::size_t i = 0; i < rows.size(); ++i) {
        if (rows[i] == m_rows[i]) continue;
        m_rows[i] = std::move(rows[i]);
        const QModelIndex changed = index(static_cast<int>(i));
        Q_EMIT dataChanged(changed, changed);
    }
}

void SessionsModel::setLive(std::int64_t id, RunState state, std::int64_t steps, double msPerStep, double loss) {
    for (std::size_t i = 0; i < m_rows.size(); ++i) {
        if (m_rows[i].id != id) continue;
        m_rows[i].state = state;
        m_rows[i].steps = steps;
        if (std::isfinite(msPerStep)) m_rows[i].msPerStep = msPerStep;
        if (std::isfinite(loss)) m_rows[i].loss = loss;
        const QModelIndex changed = index(static_cast<int>(i));
        Q_EMIT dataChanged(changed, changed);
    }
}

const SessionRow* SessionsModel::find(std::int64_t id) const {
    const auto found = std::ranges::find(m_rows, id, &SessionRow::id);
    return found == m_rows.end() ? nullptr : &*found;
}

int SessionsModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(m_rows.size());
}

QVariant SessionsModel::data(const QModelIndex& index, int role) const {
    if (!index.isValid() || index.row() >= rowCount()) return {};
    const SessionRow& row = at(index.row());
    switch (role) {
        case Qt::DisplayRole:
            return row.name;
        case Qt::ToolTipRole:
            return plainTip(tooltip(row));
        case Qt::AccessibleTextRole:
            if (row.kind != SessionKind::Run) return QString("%1, %2, %3").arg(row.name, toString(row.kind), toString(row.state));
            return QString("%1, %2, %3 steps").arg(row.name, toString(row.state)).arg(row.steps);
        case IdRole:
            return static_cast<qlonglong>(row.id);
        case StateRole:
            return toString(row.state);
        case RowRole:
            return QVariant::fromValue(static_cast<const void*>(&row));
        default:
            return {};
    }
}

void SessionsFilter::setWords(const QString& text) {
    m_words = text.split(' ', Qt::SkipEmptyParts);
    invalidateFilter();
}

bool SessionsFilter::filterAcceptsRow(int row, const QModelIndex&) const {
    return holdsWords(static_cast<const SessionsModel*>(sourceModel())->at(row), m_words);
}

bool holdsWords(const SessionRow& session, const QStringList& words) {
    if (words.isEmpty()) return true;
    QStringList places{session.name, toString(session.state), toString(session.kind), session.notes, session.host};
    places += session.tags;
    for (const auto& [key, value] : session.config) places << key + "=" + value;
    return std::ranges::all_of(words, [&](const QString& word) {
        return std::ranges::any_of(places, [&](const QString& place) { return place.contains(word, Qt::CaseInsensitive); });
    });
}

}  // namespace stepscope
