// What the window asks an engine that is on another machine beside a run (Frame.h, 16 and on): what lies in one of its folders, whether chosen data
// can be read there, what chosen weights are. One question, one answer, in turn. What is read is a stranger's: names that a line cannot show are
// never taken. Pure functions; any thread.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/events/RunConfig.h"
#include "sessions/wire/Frame.h"

namespace stepscope {

class LayoutWords;

constexpr std::size_t kMostFilesListed = 10'000;  // entries of a folder in one answer
constexpr std::size_t kLongestPath = 4096;        // bytes

struct FolderAsked {
    std::string path;  // of a folder, or of a file, which is then named; empty: the home of who runs the engine; what is relative stands in it
    bool foldersOnly = false;
    std::vector<std::string> endings{};  // of files, in small letters: ".txt"; none: all
    bool operator==(const FolderAsked&) const = default;
};
struct FolderEntry {
    std::string name;
    bool folder = false;
    std::int64_t bytes = 0;  // of a file
    bool operator==(const FolderEntry&) const = default;
};
struct FolderListed {
    std::string folder;                // whole path
    std::string file{};                // the name of the file in it that was asked for by its path; empty: a folder was
    std::vector<FolderEntry> entries;  // folders first, then by name
    std::int64_t more = 0;             // that are not among them, because there are more than kMostFilesListed
    std::int64_t hidden = 0;           // left out because their names begin with a dot
    std::int64_t unnamed = 0;          // left out because their names cannot be shown in a line
    std::string problem{};             // why it cannot be listed; empty: it was
    bool operator==(const FolderListed&) const = default;
};
FrameBytes folderAskedToBytes(const FolderAsked& asked);
Result<FolderAsked> folderAskedFromBytes(const FrameBytes& payload);
FrameBytes folderListedToBytes(const FolderListed& listed);
Result<FolderListed> folderListedFromBytes(const FrameBytes& payload);
// Whether a list can hold a file of that name: in one line, as it is, and no way to another folder.
bool canBeListed(const std::string& name);

// As DataCheck (app/workbench) says it.
struct DataAsked {
    std::string data;
    bool validation = false;  // what is known of these and of those is remembered apart
};
struct DataChecked {
    std::optional<std::string> problem;  // empty: none; nothing: the look was ended by what was sent behind the question
};
FrameBytes dataAskedToBytes(const DataAsked& asked);
Result<DataAsked> dataAskedFromBytes(const FrameBytes& payload);
FrameBytes dataCheckedToBytes(const DataChecked& checked);
Result<DataChecked> dataCheckedFromBytes(const FrameBytes& payload);

// As lookAtWeights (app/workbench/WeightsLook.h) says it of config.init; or, where one is named, of a checkpoint that a run shall go on from.
struct WeightsAsked {
    RunConfig config;
    std::string checkpoint{};  // its folder
};
struct WeightsLooked {
    std::string found, problem;
    std::optional<RunConfig> shaped;  // of a checkpoint: the settings that it was made with
};
FrameBytes weightsAskedToBytes(const WeightsAsked& asked);
Result<WeightsAsked> weightsAskedFromBytes(const FrameBytes& payload);
FrameBytes weightsLookedToBytes(const WeightsLooked& looked);
Result<WeightsLooked> weightsLookedFromBytes(const FrameBytes& payload);

void addLookLayout(LayoutWords& layout);  // for addWireLayout()

}  // namespace stepscope
