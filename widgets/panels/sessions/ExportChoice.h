// A format that a session can be exported in, as a menu and a file dialog name it: made by app/gui from what the exporters offer.
#pragma once
#include <QString>
#include <QStringList>

namespace stepscope {

struct ExportChoice {
    QString word;         // "perfetto": which one, to who writes it
    QString title;        // "Perfetto trace"
    QStringList endings;  // of its files, as patterns: "*.perfetto-trace"
    QString name;         // of a file, %: the session's number

    QString filter() const { return QString("%1 (%2)").arg(title, endings.join(' ')); }
    QString nameFor(qint64 session) const { return QString(name).replace('%', QString::number(session)); }
    // Added to a name without one; empty where the name itself says the format.
    QString ending() const { return endings.isEmpty() || !endings.first().startsWith("*.") ? QString() : endings.first().mid(2); }
};

}  // namespace stepscope
