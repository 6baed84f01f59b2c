// The user guide's chapters (resources/guide), in the order of its table of contents. Compiled into the program, so that it needs no
// installed files; the same files are read on their own on the project's page. Called by GuidePanel and the tests; any thread.
#pragma once
#include <QString>
#include <vector>

namespace stepscope {

struct GuideChapter {
    QString file;   // "charts.md", as links between chapters name it
    QString title;  // as the table of contents has it
    QString text;   // Markdown, without comments
};

std::vector<GuideChapter> readGuide();

}  // namespace stepscope
