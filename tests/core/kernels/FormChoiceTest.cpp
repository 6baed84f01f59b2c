// The choice among forms: measured, kept in a file, and read back without trust.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "core/kernels/forms/FormChoice.h"
#include "core/kernels/forms/FormFile.h"

namespace stepscope {
namespace {

namespace fs = std::filesystem;

class FormChoice : public testing::Test {
protected:
    void SetUp() override {
        std::string name = (fs::temp_directory_path() / "stepscope-forms-XXXXXX").string();
        ASSERT_NE(::mkdtemp(name.data()), nullptr);
        folder = name;
    }
    void TearDown() override { fs::remove_all(folder); }

    std::string onlyFile() const {
        const fs::directory_iterator file(folder);
        return file == fs::directory_iterator() ? "" : file->path().string();
    }
    std::string folder;
};

void work(int amount) {
    volatile double sum = 0;
    for (int i = 0; i < amount; ++i) sum = sum + 1.0 / (i + 1);
}

TEST_F(FormChoice, TakesTheFastestCandidate) {
    EXPECT_EQ(fastestForm({{"slow", [] { work(200000); }}, {"fast", [] { work(50000); }}, {"middle", [] { work(100000); }}}), 1u);
}

TEST_F(FormChoice, KeepsTheFirstWhereNoneIsClearlyFaster) {
    int order = 0;
    EXPECT_EQ(fastestForm({{"first", [&] { work(200000), ++order; }}, {"slower", [&] { work(220000), ++order; }}}), 0u);
    EXPECT_EQ(order, 52);
}

TEST_F(FormChoice, IsReadBackForTheSameMachineOnly) {
    const FormChoices choices{{"bf16.tiles", "split-12"}, {"f32.store", "direct"}};
    ASSERT_TRUE(saveForms(folder, "machine A", choices));
    EXPECT_EQ(loadForms(folder, "machine A"), choices);
    EXPECT_TRUE(loadForms(folder, "machine B").empty());
    fs::rename(onlyFile(), folder + "/elsewhere");
    ASSERT_TRUE(saveForms(folder, "machine B", {}));
    const std::string ofB = [&] {
        for (const auto& entry : fs::directory_iterator(folder))
            if (entry.path().filename() != "elsewhere") return entry.path().string();
        return std::string();
    }();
    fs::rename(folder + "/elsewhere", ofB);
    EXPECT_TRUE(loadForms(folder, "machine B").empty()) << "the text names another machine than the file";
}

TEST_F(FormChoice, TheFileIsForThisUserAlone) {
    const std::string inner = folder + "/a/b";
    ASSERT_TRUE(saveForms(inner, "machine", {{"k", "n"}}));
    struct stat info {};
    ASSERT_EQ(::stat(inner.c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777, 0700u);
    ASSERT_EQ(::stat(fs::directory_iterator(inner)->path().c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777, 0600u);
}

TEST_F(FormChoice, BelievesNoTextThatIsNotWhole) {
    const std::string good = writeForms("m", {{"bf16.tiles", "split-12"}});
    ASSERT_TRUE(readForms(good, "m"));
    for (std::size_t end = 0; end < good.size(); ++end) {
        const auto cut = readForms(good.substr(0, end), "m");
        EXPECT_TRUE(!cut || cut->empty()) << end;
    }
    for (const std::string& bad : {good + "x", good + "key\n", good + "KEY name\n", good + "key na me\n", good + "key ../../x\n", good + " name\n",
                                   good + "bf16.tiles direct\n", good + "key \n", good + std::string("k\0 n\n", 5), "x" + good,
                                   good + "key " + std::string(41, 'a') + "\n", good + std::string(9000, 'a') + " b\n"})
        EXPECT_FALSE(readForms(bad, "m")) << bad.substr(0, 200);
}

TEST_F(FormChoice, AFileThatIsNoneOrTooLongIsPassedOver) {
    ASSERT_TRUE(saveForms(folder, "m", {{"k", "n"}}));
    const std::string path = onlyFile();
    ASSERT_TRUE(readSmallFile(path, 8192));
    EXPECT_FALSE(readSmallFile(path, 4));
    fs::rename(path, folder + "/target");
    fs::create_symlink(folder + "/target", path);
    EXPECT_TRUE(loadForms(folder, "m").empty()) << "a link";
    fs::remove(path);
    fs::create_directory(path);
    EXPECT_TRUE(loadForms(folder, "m").empty()) << "a folder";
    fs::remove(path);
    ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
    EXPECT_TRUE(loadForms(folder, "m").empty()) << "a pipe, which nobody writes to";
}

TEST_F(FormChoice, AFolderThatCannotBeMadeIsNoError) {
    std::ofstream(folder + "/file") << "x";
    EXPECT_FALSE(saveForms(folder + "/file/forms", "m", {{"k", "n"}}));
    EXPECT_FALSE(saveForms("", "m", {{"k", "n"}}));
}

// In a process of its own: the environment is read, and choices are kept for the process.
bool measuredOnceAndThenFromTheFile(const std::string& folder) {
    ::setenv("XDG_CACHE_HOME", folder.c_str(), 1);
    ::unsetenv("STEPSCOPE_FORMS");
    int runs = 0;
    const std::vector<FormCandidate> candidates{{"one", [&] { work(20000), ++runs; }}, {"two", [&] { work(5000), ++runs; }}};
    const auto chosen = [&](const char* key) { return chooseForm(key, candidates); };
    if (chosen("test.a") != "two" || runs != 52 || chosen("test.a") != "two" || runs != 52) return false;
    if (loadForms(formsFolder(), formsMachine()) != FormChoices{{"test.a", "two"}}) return false;
    // What a file says is believed, but for a form that does not exist.
    if (!saveForms(formsFolder(), formsMachine(), {{"test.a", "two"}, {"test.b", "one"}, {"test.c", "other"}})) return false;
    if (chosen("test.b") != "one" || runs != 52 || chosen("test.c") != "two" || runs != 104) return false;
    ::setenv("STEPSCOPE_FORMS", "test.b=two,test.a=one,test.c=none", 1);
    return chosen("test.a") == "one" && chosen("test.b") == "two" && chosen("test.c") == "two";
}
TEST_F(FormChoice, IsMeasuredOnceAndThenComesFromTheFile) {
    EXPECT_EXIT(std::_Exit(measuredOnceAndThenFromTheFile(folder) ? 0 : 1), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace stepscope
