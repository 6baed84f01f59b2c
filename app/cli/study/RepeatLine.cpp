#include "app/cli/study/RepeatLine.h"

#include "app/workbench/ExperimentReports.h"

namespace stepscope::cli {

void RepeatLine::add(const std::string& word) {
    m_text += " " + shellWord(word);
}

}  // namespace stepscope::cli
