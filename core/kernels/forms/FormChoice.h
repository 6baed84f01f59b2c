// FormChoice: which of several forms of an inner loop this processor runs fastest. All forms of a loop give the same bits, so the choice is a matter
// of time alone. Measured once on a machine and kept in a small file of the user's cache folder; asked when an operation is first looked up, on any
// thread.
#pragma once
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace stepscope {

struct FormCandidate {
    std::string name;           // [a-z0-9-]
    std::function<void()> run;  // about a millisecond of typical work; must not throw
};

// The name of the fastest candidate: what STEPSCOPE_FORMS asks for ("bf16.tiles=direct,attention=pairs"; a name that is none of them is passed over),
// or what the file says, or what is measured now (25 rounds of all candidates). Without a folder for the file the choice holds for
// this process. `key` is [a-z0-9.-]; `candidates` has at least one.
std::string chooseForm(std::string_view key, const std::vector<FormCandidate>& candidates);

// $XDG_CACHE_HOME/stepscope/forms or ~/.cache/stepscope/forms; empty when neither variable names an absolute path.
std::string formsFolder();
// What the choice depends on, in one line: processor, instruction set in use, compiler, and the version of the forms.
std::string formsMachine();

// The file's text: `machine` and a line "key name" for each choice. Reading trusts nothing: at most 8 KiB, the same machine, well-formed words; else
// absent.
using FormChoices = std::map<std::string, std::string, std::less<>>;
std::string writeForms(std::string_view machine, const FormChoices& choices);
std::optional<FormChoices> readForms(std::string_view text, std::string_view machine);

// The choices in `folder` for `machine`; empty where there is no such file, or one that is not what it should be.
FormChoices loadForms(const std::string& folder, std::string_view machine);
// False where the folder cannot be written to, which is no error: the next process measures again.
bool saveForms(const std::string& folder, std::string_view machine, const FormChoices& choices);

// The index of the fastest, by the processor time of this thread: candidates in turn, medians of the rounds; the first unless another is 2 % faster.
std::size_t fastestForm(const std::vector<FormCandidate>& candidates, int rounds = 25);

}  // namespace stepscope
