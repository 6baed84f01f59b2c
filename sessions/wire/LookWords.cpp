#include "sessions/wire/LookWords.h"

#include <algorithm>
#include <utility>

#include "core/base/Utf8.h"
#include "sessions/EventFields.h"
#include "sessions/wire/LayoutWords.h"
#include "sessions/wire/WireIo.h"

namespace stepscope {
namespace {

constexpr std::size_t kLongestName = 255, kMostEndings = 100;  // bytes of a name

void fields(auto& io, Like<FolderAsked> auto& a) {
    io("path", a.path);
    io("folders_only", a.foldersOnly);
    io("endings", a.endings);
}

void fields(auto& io, Like<FolderEntry> auto& e) {
    io("name", e.name);
    io("folder", e.folder);
    io("bytes", e.bytes);
}

// But for its entries.
void fields(auto& io, Like<FolderListed> auto& l) {
    io("folder", l.folder);
    io("file", l.file);
    io("more", l.more);
    io("hidden", l.hidden);
    io("unnamed", l.unnamed);
    io("problem", l.problem);
}

void fields(auto& io, Like<DataAsked> auto& a) {
    io("data", a.data);
    io("validation", a.validation);
}
void fields(auto& io, Like<DataChecked> auto& c) {
    io("problem", c.problem);
}
void fields(auto& io, Like<WeightsAsked> auto& a) {
    io("config", a.config);
    io("checkpoint", a.checkpoint);
}
void fields(auto& io, Like<WeightsLooked> auto& l) {
    io("found", l.found);
    io("problem", l.problem);
    io("shaped", l.shaped);
}

template <class T>
FrameBytes said(const T& all) {
    WireWriter io;
    fields(io, all);
    return io.take();
}

// check: what of it cannot be; nothing: all can.
template <class T, class Check>
Result<T> heard(const FrameBytes& payload, const char* what, Check check) {
    WireReader io(payload);
    T all;
    fields(io, all);
    if (const char* wrong = io.bytes().good() ? check(all) : nullptr) io.bytes().fail(wrong);
    if (const Status good = io.finished(what); !good) return good.error();
    return all;
}

constexpr auto kAllCanBe = [](const auto&) -> const char* { return nullptr; };

const char* whyNoPath(const std::string& path) {
    if (path.size() > kLongestPath || path.find('\0') != std::string::npos) return "a path that cannot be";
    return nullptr;
}

bool isOneLine(const std::string& text) {
    return printable(text) == text;
}

}  // namespace

bool canBeListed(const std::string& name) {
    return !name.empty() && name.size() <= kLongestName && name != "." && name != ".." && name.find('/') == std::string::npos && isOneLine(name);
}

FrameBytes folderAskedToBytes(const FolderAsked& asked) {
    return said(asked);
}
Result<FolderAsked> folderAskedFromBytes(const FrameBytes& payload) {
    return heard<FolderAsked>(payload, "The question for a folder", [](const FolderAsked& asked) {
        return asked.endings.size() > kMostEndings ? "more endings than there can be" : whyNoPath(asked.path);
    });
}

FrameBytes folderListedToBytes(const FolderListed& listed) {
    WireWriter io;
    fields(io, listed);
    io.bytes().whole(listed.entries.size());
    for (const FolderEntry& entry : listed.entries) fields(io, entry);
    return io.take();
}
Result<FolderListed> folderListedFromBytes(const FrameBytes& payload) {
    WireReader io(payload);
    FolderListed listed;
    fields(io, listed);
    const std::uint64_t count = io.bytes().upTo(kMostFilesListed, "more files than a list has");
    // Grown as entries come: a count alone takes no memory.
    for (std::uint64_t i = 0; i < count && io.bytes().good(); ++i) {
        FolderEntry& entry = listed.entries.emplace_back();
        fields(io, entry);
        if (io.bytes().good() && (!canBeListed(entry.name) || entry.bytes < 0)) io.bytes().fail("a file that cannot be");
    }
    if (io.bytes().good() && (!isOneLine(listed.folder) || !isOneLine(listed.problem) || (!listed.file.empty() && !canBeListed(listed.file)) ||
                              listed.more < 0 || listed.hidden < 0 || listed.unnamed < 0))
        io.bytes().fail("a list that cannot be");
    if (io.bytes().good())
        if (const char* wrong = whyNoPath(listed.folder)) io.bytes().fail(wrong);
    if (const Status good = io.finished("A list of files"); !good) return good.error();
    return listed;
}

FrameBytes dataAskedToBytes(const DataAsked& asked) {
    return said(asked);
}
Result<DataAsked> dataAskedFromBytes(const FrameBytes& payload) {
    return heard<DataAsked>(payload, "The question for data", [](const DataAsked& asked) { return whyNoPath(asked.data); });
}
FrameBytes dataCheckedToBytes(const DataChecked& checked) {
    return said(checked);
}
Result<DataChecked> dataCheckedFromBytes(const FrameBytes& payload) {
    return heard<DataChecked>(payload, "What is said of data", kAllCanBe);
}

FrameBytes weightsAskedToBytes(const WeightsAsked& asked) {
    return said(asked);
}
Result<WeightsAsked> weightsAskedFromBytes(const FrameBytes& payload) {
    return heard<WeightsAsked>(payload, "The question for weights", [](const WeightsAsked& asked) {
        const char* wrong = whyNoPath(asked.config.init);
        return wrong != nullptr ? wrong : whyNoPath(asked.checkpoint);
    });
}
FrameBytes weightsLookedToBytes(const WeightsLooked& looked) {
    return said(looked);
}
Result<WeightsLooked> weightsLookedFromBytes(const FrameBytes& payload) {
    return heard<WeightsLooked>(payload, "What is said of weights", kAllCanBe);
}

void addLookLayout(LayoutWords& layout) {
    const auto add = [&](const auto&... one) { (fields(layout, one), ...); };
    add(FolderAsked{}, FolderEntry{}, FolderListed{}, DataAsked{}, DataChecked{}, WeightsAsked{}, WeightsLooked{});
}

}  // namespace stepscope
