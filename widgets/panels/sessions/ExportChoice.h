// A format that a session can be exported in, as a menu and a file dialog name it: made by app/gui from what the exporters offer.
#pragma once
#include <QString>
#include <QStringList>

namespace stepscope {

constexpr qint64 kAllRanks = -1;

// Of what several workers captured, or each side of an experiment.
struct ExportPart {
    qint64 rank = kAllRanks;
    QString title;  // "Worker 1"
};

struct ExportChoice {
    QString word;            // "perfetto": which one, to who writes it
    QString title;           // "Perfetto trace"
    QStringList endings;     // of its files, as patterns: "*.perfetto-trace"
    QString name;            // of a file, %: the session's number
    bool ofWorkers = false;  // of what was captured: one of several workers can be had alone

    QString filter() const { return QString("%1 (%2)").arg(title, endings.join(' ')); }
    QString nameFor(qint64 session, qint64 rank = kAllRanks) const {
        return QString(name).replace('%', rank < 0 ? QString::number(session) : QString("%1-rank-%2").arg(session).arg(rank));
    }
    // Added to a name without one; empty where the name itself says the format.
    QString ending() const { return endings.isEmpty() || !endings.first().startsWith("*.") ? QString() : endings.first().mid(2); }
};

}  // namespace stepscope
