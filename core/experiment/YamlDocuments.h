// isOneYamlDocument(): asked of a stranger's YAML before it is read whole. Any thread.
#pragma once
#include <string>

namespace stepscope {

// Whether the text is one document or none. What stands behind a document and belongs to none, as a bracket that nothing opened, counts as another:
// yaml-cpp's own LoadAll() makes documents of it without end. Throws YAML::Exception.
bool isOneYamlDocument(const std::string& text);

}  // namespace stepscope
