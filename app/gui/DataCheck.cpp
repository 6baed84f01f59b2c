// See DataCheck.h.
#include "app/gui/DataCheck.h"

#include <QFile>
#include <QFileInfo>
#include <QStringDecoder>

namespace stepscope {
namespace {

constexpr qint64 kBlock = 1 << 20;
constexpr qint64 kLooked = 64 << 20;  // a text in another encoding gives itself away at its first letter beyond ASCII

bool isPlainText(const QFileInfo& file) {
    static const QStringList kOthers{"bin", "jsonl", "ndjson", "zst"};
    return file.isFile() && !kOthers.contains(file.suffix().toLower());
}

// Nothing when it is not wanted any more.
std::optional<bool> isUtf8(const QString& path, const std::function<bool()>& wanted) {
    QFile file(path);
    if (!file.open(QIODevice::ReadOnly)) return true;  // the run says why
    QStringDecoder decoder(QStringDecoder::Utf8);
    for (qint64 looked = 0; looked < kLooked && !file.atEnd(); looked += kBlock) {
        if (!wanted()) return std::nullopt;
        const QByteArray block = file.read(kBlock);
        const QString text = decoder(file.atEnd() ? block + '\n' : block);  // a last letter that is cut short is none
        if (decoder.hasError()) return false;
    }
    return true;
}

}  // namespace

std::optional<QString> DataCheck::problemOf(const std::string& data, const std::function<bool()>& wanted) {
    const QFileInfo file(QString::fromStdString(data));
    if (!isPlainText(file)) return QString();
    if (file.filePath() == m_path && file.size() == m_size && file.lastModified() == m_changed) return m_problem;
    const auto readable = isUtf8(file.filePath(), wanted);
    if (!readable) return std::nullopt;
    m_path = file.filePath();
    m_size = file.size();
    m_changed = file.lastModified();
    m_problem = *readable ? QString() : file.fileName() + " is not UTF-8 text, and a run cannot read it; save it as UTF-8.";
    return m_problem;
}

}  // namespace stepscope
