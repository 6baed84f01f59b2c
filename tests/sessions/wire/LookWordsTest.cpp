// What is asked of an engine on another machine beside runs, and what it answers: all of it crosses, and what cannot be is one sentence. CTest.
#include <gmock/gmock.h>

#include "core/events/Presets.h"
#include "sessions/wire/LookWords.h"

namespace stepscope {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

FolderListed someFolder() {
    return {.folder = "/data/texts",
            .file = "b.txt",
            .entries = {{.name = "sub", .folder = true}, {.name = "b.txt", .bytes = 12}, {.name = "ü.txt", .bytes = 5'000'000'000}},
            .more = 3,
            .hidden = 2,
            .unnamed = 1,
            .problem = "why"};
}

TEST(LookWords, CarryAllThatIsAskedAndAnswered) {
    const FolderAsked asked{.path = "~/x", .foldersOnly = true, .endings = {".txt", ".bin"}};
    EXPECT_EQ(folderAskedFromBytes(folderAskedToBytes(asked)).value(), asked);
    EXPECT_EQ(folderListedFromBytes(folderListedToBytes(someFolder())).value(), someFolder());
    const auto data = dataAskedFromBytes(dataAskedToBytes({.data = "/x", .validation = true}));
    EXPECT_EQ(data->data, "/x");
    EXPECT_TRUE(data->validation);
    EXPECT_EQ(dataCheckedFromBytes(dataCheckedToBytes({std::nullopt}))->problem, std::nullopt);
    EXPECT_EQ(dataCheckedFromBytes(dataCheckedToBytes({"Not text."}))->problem, "Not text.");
    RunConfig config = presetConfig("tiny-cpu").value();
    config.init = "/weights";
    EXPECT_EQ(weightsAskedFromBytes(weightsAskedToBytes({config}))->config, config);
    EXPECT_EQ(weightsAskedFromBytes(weightsAskedToBytes({config, "/c/step-5"}))->checkpoint, "/c/step-5");
    const auto looked = weightsLookedFromBytes(weightsLookedToBytes({"found", "problem", config}));
    EXPECT_EQ(looked->found, "found");
    EXPECT_EQ(looked->problem, "problem");
    EXPECT_EQ(looked->shaped, config);
}

TEST(LookWords, CutShortAreOneSentence) {
    const FrameBytes whole = folderListedToBytes(someFolder());
    for (std::size_t size = 0; size < whole.size(); ++size) {
        const auto cut = folderListedFromBytes(FrameBytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)));
        ASSERT_FALSE(cut) << size;
        EXPECT_THAT(cut.error().sentence, StartsWith("A list of files from the other side is damaged at byte "));
    }
    FrameBytes longer = whole;
    longer.push_back(std::byte{0});
    EXPECT_FALSE(folderListedFromBytes(longer));
}

std::string refusal(const FolderListed& listed) {
    const auto read = folderListedFromBytes(folderListedToBytes(listed));
    return read ? "" : read.error().sentence;
}

TEST(LookWords, NamesThatALineCannotShowOrThatLeadElsewhereAreRefused) {
    for (const char* name : {"", ".", "..", "a/b", "a\nb", "\x1b[2J", "\u202Egnp.exe", "\xff"}) {
        EXPECT_FALSE(canBeListed(name)) << name;
        EXPECT_THAT(refusal({.folder = "/", .entries = {{.name = name}}}), HasSubstr("a file that cannot be")) << name;
    }
    EXPECT_TRUE(canBeListed("ü & others (2).txt"));
    EXPECT_FALSE(canBeListed(std::string(256, 'x')));
    EXPECT_THAT(refusal({.folder = "/", .entries = {{.name = "x", .bytes = -1}}}), HasSubstr("a file that cannot be"));
    EXPECT_THAT(refusal({.folder = "/a\nb", .entries = {}}), HasSubstr("a list that cannot be"));
    EXPECT_THAT(refusal({.folder = "/", .file = "../x", .entries = {}}), HasSubstr("a list that cannot be"));
    EXPECT_THAT(refusal({.folder = "/", .entries = {}, .more = -1}), HasSubstr("a list that cannot be"));
}

TEST(LookWords, MoreThanThereCanBeIsRefused) {
    FolderListed many{.folder = "/", .entries = std::vector<FolderEntry>(kMostFilesListed, {.name = "x"})};
    EXPECT_EQ(refusal(many), "");
    many.entries.push_back({.name = "x"});
    EXPECT_THAT(refusal(many), HasSubstr("more files than a list has"));
    EXPECT_THAT(folderAskedFromBytes(folderAskedToBytes({.path = std::string(kLongestPath + 1, 'x')})).error().sentence,
                HasSubstr("a path that cannot be"));
    EXPECT_THAT(dataAskedFromBytes(dataAskedToBytes({.data = std::string("a\0b", 3)})).error().sentence, HasSubstr("a path that cannot be"));
    EXPECT_THAT(folderAskedFromBytes(folderAskedToBytes({.path = "x", .endings = std::vector<std::string>(101, ".txt")})).error().sentence,
                HasSubstr("more endings than there can be"));
}

}  // namespace
}  // namespace stepscope
