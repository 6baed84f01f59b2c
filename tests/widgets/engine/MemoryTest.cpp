// A run that runs out of memory in front of a person: it ends as failed with a sentence, and the next one can be started.
#include <sys/resource.h>

#include <QFile>
#include <fstream>
#include <string>

#include "tests/widgets/engine/EngineFixture.h"
#include "widgets/panels/run/NoticeBar.h"

namespace stepscope {
namespace {

std::int64_t dataOfThisProcess() {
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);)
        if (line.starts_with("VmData:")) return std::stoll(line.substr(7)) * 1024;
    return 0;
}

class MemoryTest : public EngineFixture {
protected:
    ~MemoryTest() override { qunsetenv("STEPSCOPE_MEMORY_LIMIT"); }

    // 16 000 different characters: a vocabulary that nobody can predict before the text is read.
    QString manyCharacters() {
        QString text;
        for (int point = 0x4E00; point < 0x4E00 + 16000; ++point) text += QChar(point);
        QFile file(folder.filePath("characters.txt"));
        EXPECT_TRUE(file.open(QIODevice::WriteOnly));
        file.write((text + text).toUtf8());
        return file.fileName();
    }

    void expectFailedWith(const char* words) {
        ASSERT_TRUE(idle());
        EXPECT_EQ(live().state()->state, RunState::Failed);
        EXPECT_TRUE(place->window().notice().sentence().contains(words)) << place->window().notice().sentence().toStdString();
        EXPECT_TRUE(button("Run")->isEnabled());
        EXPECT_FALSE(button("Stop")->isEnabled());
    }
};

TEST_F(MemoryTest, ARunThatRunsOutOfItEndsWithASentenceAndRunCanBePressedAgain) {
    // What the system gives is less than what it says it has: 400 MB more, where the logits alone take half a GB.
    rlimit before{};
    ASSERT_EQ(getrlimit(RLIMIT_DATA, &before), 0);
    const rlimit little{static_cast<rlim_t>(dataOfThisProcess() + 400'000'000), before.rlim_max};
    ASSERT_EQ(setrlimit(RLIMIT_DATA, &little), 0);
    open({"data=" + manyCharacters(), "tokenizer=char", "context=128", "batch-size=64", "steps=50"});
    expectFailedWith("more memory");
    setrlimit(RLIMIT_DATA, &before);
}

TEST_F(MemoryTest, ATextOfMoreCharactersThanWereThoughtOfIsRefusedOnceItIsRead) {
    qputenv("STEPSCOPE_MEMORY_LIMIT", "200000000");
    open({"data=" + manyCharacters(), "tokenizer=char", "context=128", "batch-size=128", "steps=50"});
    ASSERT_TRUE(idle());
    EXPECT_TRUE(place->window().notice().sentence().contains("lower batch-size")) << place->window().notice().sentence().toStdString();
    EXPECT_TRUE(button("Run")->isEnabled());
}

}  // namespace
}  // namespace stepscope
