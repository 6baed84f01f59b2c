// Files of another machine, listed and looked at by an engine there: the real command line as a process; what answers in its place; and the words
// that start it. CTest.
#include <gmock/gmock.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>

#include "app/workbench/Workbench.h"
#include "app/workbench/engine/EngineQuestions.h"
#include "app/workbench/engine/EngineWords.h"
#include "app/workbench/engine/FolderList.h"
#include "app/workbench/engine/StartWords.h"
#include "core/events/Presets.h"

namespace stepscope {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;
namespace fs = std::filesystem;

const auto kWanted = [] { return true; };

// Whose name needs no quotes in a shell; the caller removes it.
std::string fileWith(const FrameBytes& bytes) {
    std::string made = (fs::temp_directory_path() / "stepscope-hello-XXXXXX").string();
    const int file = ::mkstemp(made.data());
    EXPECT_EQ(::write(file, bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
    ::close(file);
    return made;
}

class FilesElsewhere : public ::testing::Test {
protected:
    FilesElsewhere() {
        std::string made = (fs::temp_directory_path() / "stepscope-elsewhere-XXXXXX").string();
        m_folder = fs::canonical(::mkdtemp(made.data()));
    }
    ~FilesElsewhere() override { fs::remove_all(m_folder); }

    std::string path(const std::string& name) const { return (m_folder / name).string(); }
    void write(const std::string& name, const std::string& content = "text\n") const { std::ofstream(m_folder / name) << content; }
    FolderListed list(const FolderAsked& asked) {
        auto listed = questions.list(asked, kWanted);
        EXPECT_TRUE(listed) << listed.error().sentence;
        return listed ? listed->value() : FolderListed{};
    }
    static std::vector<std::string> names(const FolderListed& listed) {
        std::vector<std::string> all;
        for (const FolderEntry& entry : listed.entries) all.push_back(entry.name + (entry.folder ? "/" : ""));
        return all;
    }

    fs::path m_folder;
    EngineQuestions questions{{STEPSCOPE_CLI, "engine"}};
};

TEST_F(FilesElsewhere, AreListedFoldersFirstWithTheirSizes) {
    fs::create_directory(path("z"));
    fs::create_directory(path("a"));
    write("b.txt", "12345");
    write("A.TXT");
    write("c.bin");
    write(".hidden");
    ASSERT_EQ(::symlink(path("z").c_str(), path("link").c_str()), 0);
    ASSERT_EQ(::symlink(path("nowhere").c_str(), path("broken").c_str()), 0);
    ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
    const FolderListed all = list({.path = path("")});
    EXPECT_EQ(all.folder, m_folder);
    EXPECT_THAT(names(all), ElementsAre("a/", "link/", "z/", "A.TXT", "b.txt", "c.bin"));
    EXPECT_EQ(all.entries[4].bytes, 5);
    EXPECT_EQ(all.hidden, 1);
    EXPECT_THAT(all.problem, IsEmpty());
    EXPECT_THAT(names(list({.path = path(""), .endings = {".txt"}})), ElementsAre("a/", "link/", "z/", "A.TXT", "b.txt"));
    EXPECT_THAT(names(list({.path = path(""), .foldersOnly = true})), ElementsAre("a/", "link/", "z/"));
    const FolderListed file = list({.path = path("a/../b.txt")});
    EXPECT_EQ(file.folder, m_folder);
    EXPECT_EQ(file.file, "b.txt");
}

TEST_F(FilesElsewhere, ThatAreNotThereOrCannotBeReadAreOneSentence) {
    EXPECT_THAT(list({.path = path("none")}).problem, AllOf(StartsWith("\"" + path("none") + "\" on "), EndsWith(" is not there.")));
    ASSERT_EQ(::symlink(path("loop").c_str(), path("loop").c_str()), 0);
    EXPECT_THAT(list({.path = path("loop")}).problem, HasSubstr("cannot be read: Too many levels of symbolic links."));
    ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
    EXPECT_THAT(list({.path = path("pipe")}).problem, HasSubstr("is neither a file nor a folder."));
    EXPECT_THAT(list({.path = "/\x1b[2J"}).problem, HasSubstr("\"/\uFFFD[2J\" on "));
    EXPECT_THAT(names(list({.path = path("")})), IsEmpty());
}

// A superuser reads everything.
TEST_F(FilesElsewhere, AFolderThatMayNotBeReadSaysWhy) {
    fs::create_directory(path("closed"));
    ::chmod(path("closed").c_str(), 0);
    ::chmod(m_folder.c_str(), 0755);
    const pid_t child = ::fork();
    if (child == 0) {
        constexpr uid_t kNobody = 65534;
        if (::getuid() == 0 && ::setuid(kNobody) != 0) ::_exit(2);
        ::_exit(listFolder({.path = path("closed")}).problem.ends_with("cannot be read: Permission denied.") ? 0 : 1);
    }
    int status = -1;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    ::chmod(path("closed").c_str(), 0700);
}

TEST_F(FilesElsewhere, WithNamesThatALineCannotShowAreLeftOutAndCounted) {
    write("a\nb");
    write("\x1b[2J");
    write("\xff\xfe");
    write("good ü.txt");
    const FolderListed listed = list({.path = path("")});
    EXPECT_THAT(names(listed), ElementsAre("good ü.txt"));
    EXPECT_EQ(listed.unnamed, 3);
    fs::create_directory(path("c\td"));
    EXPECT_THAT(list({.path = path("c\td")}).problem, HasSubstr("has a name that cannot be shown in a line"));
}

TEST_F(FilesElsewhere, OfAFolderOfTwentyThousandTheFirstTenThousandAreListed) {
    for (int i = 0; i < 20'000; ++i) std::ofstream(path(std::to_string(100'000 + i)));
    fs::create_directory(path("zzz"));
    const FolderListed listed = list({.path = path("")});
    ASSERT_EQ(listed.entries.size(), kMostFilesListed);
    EXPECT_EQ(listed.more, 10'001);
    EXPECT_EQ(listed.entries[0].name, "zzz");
    EXPECT_EQ(listed.entries[1].name, "100000");
    EXPECT_EQ(listed.entries.back().name, "109998");
}

TEST_F(FilesElsewhere, BeginAtTheHomeOfWhoRunsTheEngine) {
    const char* const was = ::getenv("HOME");
    const std::string before = was == nullptr ? "" : was;
    ::setenv("HOME", m_folder.c_str(), 1);
    EngineQuestions fresh({STEPSCOPE_CLI, "engine"});
    write("x.txt");
    EXPECT_THAT(names(fresh.list({}, kWanted)->value()), ElementsAre("x.txt"));
    EXPECT_EQ(fresh.list({.path = "~/x.txt"}, kWanted)->value().file, "x.txt");
    EXPECT_EQ(fresh.list({.path = "x.txt"}, kWanted)->value().file, "x.txt");
    ::setenv("HOME", before.c_str(), 1);
}

TEST_F(FilesElsewhere, AreCheckedWhereTheyAre) {
    write("good.txt", std::string(5000, 'x') + "\n");
    write("bad.txt", std::string("\x00\x01\xff\xfe", 4));
    EXPECT_EQ(questions.check({.data = path("good.txt")}, kWanted)->value().problem, "");
    EXPECT_THAT(questions.check({.data = path("bad.txt")}, kWanted)->value().problem.value(), HasSubstr("bad.txt"));
    EXPECT_THAT(questions.check({.data = path("none.txt"), .validation = true}, kWanted)->value().problem.value(), HasSubstr("none.txt"));
    RunConfig config = presetConfig("tiny-cpu").value();
    config.init = path("good.txt");
    const auto looked = questions.look({config}, kWanted);
    ASSERT_TRUE(looked);
    EXPECT_THAT(looked->value().problem, HasSubstr("good.txt"));
}

TEST_F(FilesElsewhere, AQuestionThatIsNotWantedAnyMoreHasNoAnswerAndTheNextOneHasItsOwn) {
    write("x.txt");
    ASSERT_TRUE(list({.path = path("")}).problem.empty());
    const auto none = questions.list({.path = path("none")}, [] { return false; });
    ASSERT_TRUE(none) << none.error().sentence;
    EXPECT_FALSE(*none);
    EXPECT_THAT(names(list({.path = path("")})), ElementsAre("x.txt"));
}

TEST_F(FilesElsewhere, ALineThatBrokeMeanwhileIsBegunAnew) {
    write("once", "");
    EngineQuestions breaking({"sh", "-c", "echo $$ > '" + path("pid") + "'; exec '" STEPSCOPE_CLI "' engine"});
    ASSERT_TRUE(breaking.list({.path = path("")}, kWanted));
    pid_t process = 0;
    std::ifstream(path("pid")) >> process;
    ASSERT_GT(process, 0);
    ::kill(process, SIGKILL);
    const auto again = breaking.list({.path = path("")}, kWanted);
    ASSERT_TRUE(again) << again.error().sentence;
    EXPECT_THAT(names(again->value()), ElementsAre("once", "pid"));
}

// There is no ssh in a test: a program of that name stands in its place, and takes what it is given as ssh would.
TEST_F(FilesElsewhere, AreReachedByTheUsersOwnSshThatAsksNothing) {
    write("ssh",
          "#!/bin/sh\n[ \"$1 $2 $3 $4 $5 $6\" = '-T -o BatchMode=yes -o ServerAliveInterval=15 me@rack' ] || exit 255\nshift 6\nexec \"$@\"\n");
    fs::permissions(path("ssh"), fs::perms::owner_all);
    fs::create_symlink(STEPSCOPE_CLI, path("stepscope-cli"));
    const char* const was = ::getenv("PATH");
    const std::string before = was == nullptr ? "" : was;
    ::setenv("PATH", (path("") + ":" + before).c_str(), 1);
    EngineQuestions rack(sshWords("me@rack").value());
    const auto listed = rack.list({.path = path("")}, kWanted);
    EngineQuestions other(sshWords("me@other").value());
    const auto refused = other.list({}, kWanted);
    ::setenv("PATH", before.c_str(), 1);
    ASSERT_TRUE(listed) << listed.error().sentence;
    EXPECT_THAT(names(listed->value()), ElementsAre("ssh", "stepscope-cli"));
    EXPECT_EQ(refused.error().sentence, "The engine ended with status 255.");
}

std::string refusedBy(const std::string& shell) {
    const auto found = EngineQuestions::findOut({"sh", "-c", shell});
    return found ? "" : found.error().sentence;
}

TEST(EngineElsewhere, SaysWhoItIsAndWhatMachineItIsOn) {
    const auto found = EngineQuestions::findOut({STEPSCOPE_CLI, "engine", "--detach"});
    ASSERT_TRUE(found) << found.error().sentence;
    EXPECT_EQ(found->host, hostName());
    EXPECT_GT(found->machine.cores, 0);
    EXPECT_EQ(found->command.back(), "--detach") << "runs are started as it was asked for";
}

TEST(EngineElsewhere, WhateverElseAnswersIsOneSentence) {
    EXPECT_THAT(refusedBy("echo 'Welcome to rack 7'; cat"), HasSubstr("began with \"Welcome to rack 7\""));
    EXPECT_THAT(refusedBy("echo 'Permission denied (publickey).' >&2; exit 255"), HasSubstr("ended with status 255: Permission denied (publickey)."));
    EXPECT_THAT(refusedBy("printf 'banner\\n' >&2; exec '" STEPSCOPE_CLI "' engine"), IsEmpty()) << "beside its words it may say what it likes";
    EXPECT_THAT(EngineQuestions::findOut({"/nowhere/ssh", "host"}).error().sentence, HasSubstr("The engine cannot be started: \"/nowhere/ssh\""));
    Hello other = engineHello(Machine{.cores = 1});
    other.program = "0.0.1";
    const FrameBytes bytes = frameOf(FrameType::Hello, helloToBytes(other));
    const std::string made = fileWith(bytes);
    EXPECT_THAT(refusedBy("cat " + made + "; cat >/dev/null"), HasSubstr("The engine is Stepscope 0.0.1"));
    fs::remove(made);
}

// As an ssh that asks for a password where nobody sees it.
TEST(EngineElsewhere, ThatIsNotReachedAsItsCommandWaitsForSomebodyIsOneSentence) {
    EXPECT_EQ(EngineQuestions::Limits().greet, std::chrono::seconds(20));
    const auto asking = EngineQuestions::findOut({"sh", "-c", "printf 'Password: ' >&2; cat >/dev/null"}, {.greet = std::chrono::seconds(2)});
    ASSERT_FALSE(asking);
    EXPECT_EQ(asking.error().code, ErrorCode::Io);
    EXPECT_EQ(asking.error().sentence,
              "The engine has not said who it is within 2 seconds; does \"sh -c printf 'Password: ' >&2; cat >/dev/null\" wait for somebody?");
}

TEST(EngineElsewhere, ThatSaysWhoItIsAndAnswersNothingIsOneSentence) {
    const FrameBytes bytes = frameOf(FrameType::Hello, helloToBytes(engineHello(Machine{.cores = 1})));
    const std::string made = fileWith(bytes);
    EngineQuestions silent({"sh", "-c", "cat '" + made + "'; cat >/dev/null"}, {.answer = std::chrono::seconds(2)});
    const auto listed = silent.list({}, kWanted);
    fs::remove(made);
    ASSERT_FALSE(listed);
    EXPECT_EQ(listed.error().sentence, hostName() + " has not answered within 2 seconds.");
}

TEST(EngineElsewhere, ItsMemoryIsAllThatItsMachineHas) {
    const auto workbench = Workbench::create(Machine{.cpu = "Some CPU", .cores = 64, .memory = {123'000'000'000}});
    EXPECT_EQ(workbench->estimate(presetConfig("tiny-cpu").value()).available.count, 123'000'000'000);
    Machine gpu{.cpu = "Some CPU", .cores = 64, .memory = {123'000'000'000}};
    gpu.gpus.push_back({.name = "NVIDIA H100", .memory = {80'000'000'000}, .computeMajor = 9});
    RunConfig config = presetConfig("tiny-cpu").value();
    config.switches["device"] = std::string("cuda:0");
    const auto estimate = Workbench::create(gpu)->estimate(config);
    EXPECT_EQ(estimate.available.count, 80'000'000'000);
    EXPECT_THAT(estimate.room, HasSubstr("on cuda:0, NVIDIA H100: it has 80"));
}

TEST(EngineElsewhere, KeepsCheckpointsBelowItsOwnDatabaseUnderTheNamesOfTheOtherOne) {
    const SessionPlace told = placeElsewhere({7, "/home/me/s.db.checkpoints/db-0123456789abcdef/7"});
    EXPECT_EQ(told.checkpointFolder, "db-0123456789abcdef/7");
    EXPECT_EQ(placeHere(told, "/rack/s.db")->checkpointFolder, "/rack/s.db.checkpoints/db-0123456789abcdef/7");
    EXPECT_EQ(placeHere({7, "/home/me/7"}, "/rack/s.db")->checkpointFolder, "/home/me/7");
    for (const char* wrong : {"db-01/..", "../7", "db-/7", "db-01", "db-01/", "db-01/7/8", "db-01/7\n", "x"})
        EXPECT_THAT(placeHere({7, wrong}, "/rack/s.db").error().sentence, HasSubstr("its folder of checkpoints cannot be")) << wrong;
}

TEST(EngineWords, ReachAnotherMachineByTheUsersOwnSshThatAsksNothing) {
    EXPECT_THAT(sshWords("me@rack").value(),
                ElementsAre("ssh", "-T", "-o", "BatchMode=yes", "-o", "ServerAliveInterval=15", "me@rack", "stepscope-cli", "engine", "--detach"));
    for (const std::string wrong : {"", "-oProxyCommand=x", "a b", "a\tb", "a\nb", "a\x1b", "\xff"})
        EXPECT_THAT(sshWords(wrong).error().sentence, HasSubstr("cannot be a machine's name for ssh")) << wrong;
}

TEST(EngineWords, OfACommandArePartedAsAShellWould) {
    EXPECT_THAT(wordsOf("  ssh  rack\tstepscope-cli engine ").value(), ElementsAre("ssh", "rack", "stepscope-cli", "engine"));
    EXPECT_THAT(wordsOf(R"(a 'b c' "d \"e\" $f" g\ h i'j'"k" '')").value(), ElementsAre("a", "b c", "d \"e\" $f", "g h", "ijk", ""));
    EXPECT_THAT(wordsOf("").error().sentence, HasSubstr("it names no program"));
    EXPECT_THAT(wordsOf("'' x").error().sentence, HasSubstr("it names no program"));
    EXPECT_THAT(wordsOf("a 'b").error().sentence, HasSubstr("a quotation in it has no end"));
    EXPECT_THAT(wordsOf("a \"b\\\"").error().sentence, HasSubstr("a quotation in it has no end"));
    EXPECT_THAT(wordsOf("a\\").error().sentence, HasSubstr("it ends with a backslash"));
    EXPECT_THAT(questionWords({"a", "engine", "--detach"}), ElementsAre("a", "engine"));
    EXPECT_THAT(questionWords({"a", "engine"}), ElementsAre("a", "engine"));
}

TEST(EngineWords, ThatStartAnEngineWhichOutlivesItsLineReachTheSameOneAgain) {
    EXPECT_THAT(attachWords({"a", "engine", "--detach"}, "0123456789abcdef"), ElementsAre("a", "engine", "--attach", "0123456789abcdef"));
    EXPECT_THAT(attachWords({"sh", "-c", "exec a engine --detach"}, "0123456789abcdef"),
                ElementsAre("sh", "-c", "exec a engine --attach 0123456789abcdef"));
    EXPECT_THAT(attachWords({"a", "engine"}, "0123456789abcdef"), ElementsAre()) << "such a one ends with its line";
}

}  // namespace
}  // namespace stepscope
