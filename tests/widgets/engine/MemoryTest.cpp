// A run that runs out of memory in front of a person: it ends as failed with a sentence, and the next one can be started.
#include "tests/widgets/engine/EngineFixture.h"
#include "widgets/panels/NoticeBar.h"

#include <QFile>

namespace stepscope {
namespace {

class MemoryTest : public EngineFixture {
protected:
    MemoryTest() { qputenv("STEPSCOPE_MEMORY_LIMIT", "200000000"); }
    ~MemoryTest() override { qunsetenv("STEPSCOPE_MEMORY_LIMIT"); }

    // 16 000 different characters, which nobody can predict before the text is read: the logits take a GB.
    QString manyCharacters() {
        QString text;
        for (int point = 0x4E00; point < 0x4E00 + 16000; ++point) text += QChar(point);
        QFile file(folder.filePath("characters.txt"));
        EXPECT_TRUE(file.open(QIODevice::WriteOnly));
        file.write((text + text).toUtf8());
        return file.fileName();
    }
};

TEST_F(MemoryTest, ARunThatRunsOutOfItEndsWithASentenceAndRunCanBePressedAgain) {
    open({"data=" + manyCharacters(), "tokenizer=char", "context=128", "batch-size=128", "steps=50"});
    ASSERT_TRUE(idle());
    EXPECT_EQ(live().state()->state, RunState::Failed);
    EXPECT_TRUE(place->window().notice().sentence().contains("more memory")) << place->window().notice().sentence().toStdString();
    EXPECT_TRUE(button("Run")->isEnabled());
    EXPECT_FALSE(button("Stop")->isEnabled());
}

}  // namespace
}  // namespace stepscope
