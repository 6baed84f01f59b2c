// CsvText: what a widget draws as rows of CSV, for the clipboard and for files: a head, then a line a row. GUI thread.
#pragma once
#include <QString>
#include <QStringList>
#include <cstdint>

namespace stepscope {

// As RFC 4180 has it: in quotes where it has to be.
QString csvCell(const QString& text);
QString csvNumber(double value);  // twelve digits; empty where it is no number
QString csvMilliseconds(std::int64_t ns);

class CsvText {
public:
    explicit CsvText(const QStringList& head) { row(head); }
    void row(const QStringList& cells);
    const QString& text() const { return m_text; }

private:
    QString m_text;
};

}  // namespace stepscope
