#include "widgets/panels/sessions/SessionsTable.h"

#include <algorithm>
#include <cmath>

#include "core/base/Format.h"
#include "widgets/panels/sessions/RelativeTime.h"
#include "widgets/panels/sessions/SessionsModel.h"
#include "widgets/style/Words.h"

namespace stepscope {
namespace {

QString known(double value, const QString& text) {
    return std::isfinite(value) ? text : QString("–");
}

QString shown(const SessionRow& row, int column) {
    switch (column) {
        case SessionsTable::Number:
            return QString::number(row.id);
        case SessionsTable::Name:
            return row.name;
        case SessionsTable::State:
            return toString(row.state);
        case SessionsTable::Started:
            return relativeTime(QDateTime::fromMSecsSinceEpoch(row.startedUnixMs), QDateTime::currentDateTime());
        case SessionsTable::Steps:
            return words(format::count(row.steps));
        case SessionsTable::Loss:
            return known(row.loss, QString::number(row.loss, 'f', 3));
        case SessionsTable::Validation:
            return known(row.validationLoss, QString::number(row.validationLoss, 'f', 3));
        case SessionsTable::StepTime:
            return known(row.msPerStep, words(format::milliseconds(row.msPerStep)));
        case SessionsTable::Rate:
            return known(row.tokensPerSecond, words(format::rate(row.tokensPerSecond, "tok/s")));
        case SessionsTable::Tags:
            return row.tags.join(", ");
        default:
            return {};
    }
}

// What is compared, and, for other programs, written: plain numbers.
QVariant plain(const SessionRow& row, int column) {
    switch (column) {
        case SessionsTable::Number:
            return static_cast<qlonglong>(row.id);
        case SessionsTable::Started:
            return static_cast<qlonglong>(row.startedUnixMs);
        case SessionsTable::Steps:
            return static_cast<qlonglong>(row.steps);
        case SessionsTable::Loss:
            return row.loss;
        case SessionsTable::Validation:
            return row.validationLoss;
        case SessionsTable::StepTime:
            return row.msPerStep;
        case SessionsTable::Rate:
            return row.tokensPerSecond;
        default:
            return shown(row, column);
    }
}

QString quoted(QString text) {
    if (!text.contains(',') && !text.contains('"') && !text.contains('\n')) return text;
    return '"' + text.replace('"', "\"\"") + '"';
}

constexpr const char* kCsvNames[SessionsTable::Columns] = {"session",         "name",        "state",        "started", "steps", "loss",
                                                           "validation_loss", "ms_per_step", "tokens_per_s", "tags"};

}  // namespace

SessionsTable::SessionsTable(SessionsModel& sessions, QObject* parent) : QAbstractTableModel(parent), m_sessions(sessions) {
    connect(&sessions, &QAbstractItemModel::modelAboutToBeReset, this, [this] { beginResetModel(); });
    connect(&sessions, &QAbstractItemModel::modelReset, this, [this] { endResetModel(); });
    connect(&sessions, &QAbstractItemModel::dataChanged, this,
            [this](const QModelIndex& first, const QModelIndex& last) { Q_EMIT dataChanged(index(first.row(), 0), index(last.row(), Columns - 1)); });
}

const SessionRow& SessionsTable::at(int row) const {
    return m_sessions.at(row);
}

int SessionsTable::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : m_sessions.rowCount();
}

QVariant SessionsTable::data(const QModelIndex& index, int role) const {
    if (!index.isValid() || index.row() >= rowCount()) return {};
    const SessionRow& row = at(index.row());
    switch (role) {
        case Qt::DisplayRole:
            return shown(row, index.column());
        case Qt::ToolTipRole:
            return index.column() == Started ? absoluteTime(QDateTime::fromMSecsSinceEpoch(row.startedUnixMs)) : plainTip(shown(row, index.column()));
        case Qt::TextAlignmentRole:
            return static_cast<int>((index.column() >= Steps && index.column() <= Rate ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
        case kSortRole:
            return plain(row, index.column());
        default:
            return {};
    }
}

QVariant SessionsTable::headerData(int section, Qt::Orientation orientation, int role) const {
    static const char* const titles[Columns] = {"#", "Name", "State", "Started", "Steps", "Loss", "Validation", "Step", "Tokens/s", "Tags"};
    static const char* const help[Columns] = {"Number of the session",
                                              "Name",
                                              "How it stands",
                                              "When it was started",
                                              "Steps made",
                                              "Training loss of the last step",
                                              "Loss of the last validation",
                                              "Median time of a step, the first 3 left out",
                                              "Tokens a second at that median",
                                              "Tags"};
    if (orientation != Qt::Horizontal || section < 0 || section >= Columns) return {};
    return role == Qt::DisplayRole ? QVariant(titles[section]) : role == Qt::ToolTipRole ? QVariant(help[section]) : QVariant();
}

void SessionsOrder::setWords(const QString& text) {
    m_words = text.split(' ', Qt::SkipEmptyParts);
    invalidateFilter();
}

bool SessionsOrder::lessThan(const QModelIndex& left, const QModelIndex& right) const {
    const QVariant a = left.data(SessionsTable::kSortRole), b = right.data(SessionsTable::kSortRole);
    if (a.typeId() != QMetaType::Double)
        return a.typeId() == QMetaType::QString ? a.toString().localeAwareCompare(b.toString()) < 0 : a.toLongLong() < b.toLongLong();
    const bool noA = !std::isfinite(a.toDouble()), noB = !std::isfinite(b.toDouble());
    if (noA != noB) return (sortOrder() == Qt::AscendingOrder) == noB;
    return !noA && a.toDouble() < b.toDouble();
}

bool SessionsOrder::filterAcceptsRow(int row, const QModelIndex&) const {
    return holdsWords(static_cast<const SessionsTable*>(sourceModel())->at(row), m_words);
}

QString SessionsOrder::csv() const {
    QStringList lines;
    QStringList names;
    for (const char* name : kCsvNames) names << name;
    lines << names.join(',');
    for (int row = 0; row < rowCount(); ++row) {
        const SessionRow& session = static_cast<const SessionsTable*>(sourceModel())->at(mapToSource(index(row, 0)).row());
        QStringList cells;
        for (int column = 0; column < SessionsTable::Columns; ++column) {
            const QVariant value = plain(session, column);
            if (column == SessionsTable::Started)
                cells << QDateTime::fromMSecsSinceEpoch(session.startedUnixMs).toUTC().toString(Qt::ISODate);
            else if (value.typeId() == QMetaType::Double)
                cells << (std::isfinite(value.toDouble()) ? QString::number(value.toDouble(), 'g', 10) : QString());
            else
                cells << quoted(value.toString());
        }
        lines << cells.join(',');
    }
    return lines.join('\n') + '\n';
}

}  // namespace stepscope
