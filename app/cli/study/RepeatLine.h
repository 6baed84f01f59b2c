// RepeatLine: the one line of a shell that asks the same again. Main thread.
#pragma once
#include <string>

namespace stepscope::cli {

class RepeatLine {
public:
    explicit RepeatLine(const std::string& command) : m_text("stepscope-cli " + command) {}
    void add(const std::string& word);  // quoted where a shell would read it otherwise
    const std::string& text() const { return m_text; }

private:
    std::string m_text;
};

}  // namespace stepscope::cli
