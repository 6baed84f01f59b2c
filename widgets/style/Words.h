// Text of the engine, UTF-8, as Qt shows it.
#pragma once
#include <QString>
#include <string>

namespace stepscope {

inline QString words(const std::string& text) {
    return QString::fromStdString(text);
}

// For a tool tip that says it letter by letter and in as many lines as it needs: what is stored, or comes from another machine, may hold markup.
inline QString plainTip(const QString& text) {
    return text.isEmpty() ? QString() : "<p>" + text.toHtmlEscaped().replace('\n', "<br>") + "</p>";
}

}  // namespace stepscope
