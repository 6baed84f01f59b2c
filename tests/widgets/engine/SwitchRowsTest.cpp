// The real switches in a window of the width that it begins with on a small screen: each name is read whole, whatever stands beside it.
#include <QLabel>

#include "tests/widgets/engine/EngineFixture.h"
#include "widgets/panels/TitleButton.h"
#include "widgets/panels/experiment/ExperimentPanel.h"
#include "widgets/panels/experiment/RowRemark.h"
#include "widgets/panels/experiment/ValueEdit.h"
#include "widgets/panels/experiment/ValueRow.h"

namespace stepscope {
namespace {

class SwitchRowsTest : public EngineFixture {
protected:
    // Without a run: what the catalogue has is all that is needed.
    void openSmall() {
        QSettings().clear();
        options.database = folder.filePath("s.db");
        options.size = {1280, 800};
        place = std::make_unique<Workplace>(options);
        place->open();
        ASSERT_TRUE(QTest::qWaitFor([&] { return predicted(); }, 30'000)) << "the last that the engine says of itself";
    }
    bool predicted() const {
        if (place->runs().workbench() == nullptr) return false;
        for (const auto* label : place->window().experiment().findChildren<QLabel*>())
            if (label->text().contains("parameters · ")) return true;
        return false;
    }
    static const TitleButton* nameOf(const ValueRow& row, const std::string& title) {
        for (const auto* found : row.findChildren<TitleButton*>())
            if (found->icon().isNull() && found->text().toStdString() == title) return found;
        return nullptr;
    }
};

TEST_F(SwitchRowsTest, EveryNameIsReadWholeBesideAChipAndTheWayBack) {
    openSmall();
    const ExperimentPanel& panel = place->window().experiment();
    const SwitchCatalogue catalogue = place->runs().workbench()->switches(panel.config());
    ASSERT_GT(catalogue.size(), 20u);
    EXPECT_LE(panel.width(), 384) << "no wider than the panel of a large window";
    for (const auto& entry : catalogue) {
        ValueRow* row = panel.row(entry.id);
        ASSERT_NE(row, nullptr) << entry.id;
        row->setReason({});
        row->setChip("step ×1.20 vs kernels", "Measured here.");
        row->setValue(row->editor()->text(), true);
    }
    QTest::qWait(50);
    for (const auto& entry : catalogue) {
        const TitleButton* name = nameOf(*panel.row(entry.id), entry.title);
        ASSERT_NE(name, nullptr) << entry.id;
        ASSERT_TRUE(name->isVisible()) << entry.id;
        EXPECT_GE(name->width(), name->sizeHint().width()) << entry.title;
        EXPECT_FALSE(name->accessibleDescription().isEmpty()) << entry.title;
        EXPECT_LE(panel.row(entry.id)->mapTo(&panel, QPoint(panel.row(entry.id)->width(), 0)).x(), panel.width()) << entry.title;
    }
}

// Not in the help, which nobody unfolds before the run is slow.
TEST_F(SwitchRowsTest, HalfPrecisionOnACpuIsWarnedOfInItsRow) {
    openSmall();
    const Machine& machine = place->runs().workbench()->machine();
    const bool slow = !machine.has("avx512_fp16") && !machine.has("amx_fp16");
    ExperimentPanel& panel = place->window().experiment();
    Q_EMIT panel.row("amp")->committed("amp", "fp16");
    const RowRemark* remark = panel.row("amp")->remark();
    const auto warned = [&] { return remark->isVisible() && remark->sentence().contains("no units for fp16"); };
    EXPECT_EQ(QTest::qWaitFor(warned, slow ? 10'000 : 1'000), slow) << remark->sentence().toStdString();
    Q_EMIT panel.row("amp")->committed("amp", "off");
    EXPECT_TRUE(QTest::qWaitFor([&] { return !remark->sentence().contains("no units for fp16"); }, 10'000)) << remark->sentence().toStdString();
}

}  // namespace
}  // namespace stepscope
