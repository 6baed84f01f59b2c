// isOneYamlDocument(): asked of a stranger's YAML before it is read whole. Any thread.
#pragma once
#include <string>

namespace stepscope {

// Whether the text is one document or none. What stands behind a document and belongs to none, as a bracket that nothing opened, counts as another:
// yaml-cpp's own LoadAll() makes documents of it without end. Throws YAML::Exception.
bool isOneYamlDocument(const std::string& text);

// What to say where the parser refused a line, from 1 (0: it names none), without a full stop: its own words are of its grammar, not of what a person
// wrote.
std::string whyNoYaml(const std::string& text, int line);

}  // namespace stepscope
