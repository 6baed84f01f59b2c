// Text of the engine, UTF-8, as Qt shows it.
#pragma once
#include <QString>
#include <string>

namespace stepscope {

inline QString words(const std::string& text) {
    return QString::fromStdString(text);
}

}  // namespace stepscope
