#include "core/experiment/YamlDocuments.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <sstream>

namespace stepscope {
namespace {

class Unheard final : public YAML::EventHandler {
    void OnDocumentStart(const YAML::Mark&) override {}
    void OnDocumentEnd() override {}
    void OnNull(const YAML::Mark&, YAML::anchor_t) override {}
    void OnAlias(const YAML::Mark&, YAML::anchor_t) override {}
    void OnScalar(const YAML::Mark&, const std::string&, YAML::anchor_t, const std::string&) override {}
    void OnSequenceStart(const YAML::Mark&, const std::string&, YAML::anchor_t, YAML::EmitterStyle::value) override {}
    void OnSequenceEnd() override {}
    void OnMapStart(const YAML::Mark&, const std::string&, YAML::anchor_t, YAML::EmitterStyle::value) override {}
    void OnMapEnd() override {}
};

}  // namespace

std::string whyNoYaml(const std::string& text, int line) {
    std::istringstream lines(text);
    std::string found;
    for (int at = 0; at < line && std::getline(lines, found); ++at) {
    }
    const auto first = found.find_first_not_of(' ');
    if (first != std::string::npos && found[first] == '\t') return "this is not YAML: a tab indents the line, where only blanks may";
    return "this is not YAML: look there, or just above, for a quote or bracket that is not closed, a missing blank behind \":\" or \"-\", and how "
           "far lines are indented";
}

bool isOneYamlDocument(const std::string& text) {
    std::istringstream stream(text);
    YAML::Parser parser(stream);
    Unheard unheard;
    return !parser.HandleNextDocument(unheard) || !parser.HandleNextDocument(unheard);
}

}  // namespace stepscope
