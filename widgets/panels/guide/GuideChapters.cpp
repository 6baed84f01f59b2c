#include "widgets/panels/guide/GuideChapters.h"

#include <QFile>
#include <QRegularExpression>

#include "core/base/Check.h"

namespace stepscope {
namespace {

QString readResource(const QString& name) {
    QFile file(":/guide/" + name);
    SS_CHECK(file.open(QIODevice::ReadOnly));
    return QString::fromUtf8(file.readAll());
}

}  // namespace

std::vector<GuideChapter> readGuide() {
    // "1. [First run](first-run.md)"
    static const QRegularExpression entry(R"(^\d+\. \[([^\]]+)\]\(([^)]+)\)$)", QRegularExpression::MultilineOption);
    static const QRegularExpression comment("<!--.*?-->\n?", QRegularExpression::DotMatchesEverythingOption);
    std::vector<GuideChapter> chapters;
    for (auto all = entry.globalMatch(readResource("README.md")); all.hasNext();) {
        const auto found = all.next();
        // Pictures lie beside the guide on the disk, and in the program as resources.
        const QString text = readResource(found.captured(2)).remove(comment).replace("](../screenshots/", "](qrc:/screenshots/");
        chapters.push_back({found.captured(2), found.captured(1), text});
    }
    return chapters;
}

}  // namespace stepscope
