// One row of the experiment panel: what its name says, and where its parts stand when there is little room. Names and widths by geometry.
#include <gtest/gtest.h>

#include <QCoreApplication>
#include <QTest>
#include <QVBoxLayout>
#include <set>

#include "widgets/panels/TitleButton.h"
#include "widgets/panels/ToneLabel.h"
#include "widgets/panels/experiment/RowRemark.h"
#include "widgets/panels/experiment/ValueEdit.h"
#include "widgets/panels/experiment/ValueRow.h"

namespace stepscope {
namespace {

constexpr int kRoom = 344;  // in a panel of the width that a window begins with
const Choices kWords{{"off", "every-block", "selective"}};

class ValueRowTest : public testing::Test {
protected:
    void make(const QString& title, const ValueRange& range) {
        row = std::make_unique<ValueRow>("id", title, range);
        row->setValue("off", false);
        show(kRoom);
    }
    void show(int width) {
        row->resize(width, row->heightForWidth(width));
        row->show();
        QCoreApplication::processEvents();
        row->resize(width, row->heightForWidth(width));
        QCoreApplication::processEvents();
    }
    void showAll(const QString& chip) {
        row->setChip(chip, "Measured here.");
        row->setValue("selective", true);
        show(row->width());
    }
    TitleButton* button(bool withIcon) const {
        for (auto* found : row->findChildren<TitleButton*>())
            if (found->parentWidget() == row.get() && found->icon().isNull() != withIcon) return found;
        return nullptr;
    }
    QRect name() const { return button(false)->geometry(); }
    QRect reset() const { return button(true)->geometry(); }
    QRect editor() const { return row->editor()->geometry(); }
    QLabel* chip() const {
        for (auto* label : row->findChildren<ToneLabel*>())
            if (label->toolTip() == "Measured here.") return label;
        return nullptr;
    }
    bool nameIsWhole() const { return name().width() >= button(false)->sizeHint().width(); }
    bool sameLine(const QRect& a, const QRect& b) const { return a.top() <= b.center().y() && b.center().y() <= a.bottom(); }

    std::unique_ptr<ValueRow> row;
};

TEST_F(ValueRowTest, TheNameSaysItselfWholeAndThenWhatItDoes) {
    make("A name & more", kWords);
    EXPECT_EQ(button(false)->toolTip(), "<p>A name &amp; more</p>");
    row->setSummary("Keeps less than <all>.");
    EXPECT_EQ(button(false)->toolTip(), "<p>A name &amp; more<br>Keeps less than &lt;all&gt;.</p>");
    EXPECT_EQ(button(false)->accessibleDescription(), "Keeps less than <all>.");
    EXPECT_EQ(row->editor()->focusProxy()->accessibleDescription(), "Keeps less than <all>.");
}

TEST_F(ValueRowTest, AShortNameHasEverythingBesideIt) {
    make("Norm", kWords);
    showAll("selective ×2.20");
    EXPECT_TRUE(nameIsWhole());
    for (const QRect& other : {reset(), chip()->geometry(), editor()}) EXPECT_TRUE(sameLine(name(), other));
    EXPECT_LT(editor().right(), chip()->x());
    EXPECT_LT(chip()->geometry().right(), reset().left());
    EXPECT_EQ(reset().right() + 1, row->width());
}

TEST_F(ValueRowTest, TheEditorsOfAllRowsStandInOneColumn) {
    for (const int width : {kRoom, 260, 420}) {
        std::set<int> lefts;
        for (const char* title : {"Norm", "Mixed precision", "Activation checkpointing", "A name that leaves no room for its list"})
            for (const ValueRange& range : {ValueRange(kWords), ValueRange(Choices{{"off", "on"}}), ValueRange(IntegerRange{1, 9})}) {
                make(title, range);
                show(width);
                lefts.insert(editor().left());
                row->setNewRun("the weights are made for one model");
                show(width);
                lefts.insert(editor().left());
            }
        EXPECT_EQ(lefts.size(), 1u) << width;
    }
}

// Of the panel at 1024x640: a name that is a little too long keeps its line and ends with an ellipsis, one that is much too long goes above.
TEST_F(ValueRowTest, InANarrowPanelANameStaysBesideItsEditor) {
    for (const char* title : {"Tokenizer", "Validation share", "Matmul precision"}) {
        make(title, kWords);
        show(284);
        EXPECT_TRUE(sameLine(name(), editor())) << title;
        EXPECT_LT(name().right(), editor().left()) << title;
    }
    make("Activation checkpointing of every block", kWords);
    show(284);
    EXPECT_FALSE(sameLine(name(), editor()));
    EXPECT_TRUE(nameIsWhole());
}

TEST_F(ValueRowTest, TwoLongWordsAreReadWholeInANarrowPanelBelowTheirName) {
    make("Between documents", Choices{{"blank-line", "endoftext"}});
    show(284);
    EXPECT_FALSE(sameLine(name(), editor()));
    EXPECT_TRUE(nameIsWhole());
    EXPECT_GE(editor().width(), row->editor()->sizeHint().width());
    EXPECT_LT(editor().right(), row->width() - 18) << "the way back has its place";
    EXPECT_GE(editor().left(), 0);
}

// As before a panel is laid out.
TEST_F(ValueRowTest, OfARowThatIsNarrowerThanItsPartsTheEditorKeepsItsLeastWidth) {
    make("Between documents", Choices{{"blank-line", "endoftext"}});
    QWidget panel;
    row->setParent(&panel);
    row->setMinimumSize(0, 0);  // which it had as a window
    row->setGeometry(0, 0, 100, row->heightForWidth(100));
    panel.show();
    row->show();
    QCoreApplication::processEvents();
    ASSERT_EQ(row->width(), 100);
    EXPECT_GE(editor().width(), 100);
    EXPECT_GE(editor().left(), 0);
    row->setParent(nullptr);
}

TEST_F(ValueRowTest, NothingThatComesOrGoesMovesAPartOrTheRow) {
    for (const char* title : {"Norm", "Activation checkpointing"}) {
        make(title, kWords);
        const QRect nameBefore = name(), editorBefore = editor();
        const int height = row->heightForWidth(kRoom);
        const auto same = [&](const char* what) {
            QCoreApplication::processEvents();
            EXPECT_EQ(name(), nameBefore) << what;
            EXPECT_EQ(editor(), editorBefore) << what;
            EXPECT_EQ(row->heightForWidth(kRoom), height) << what;
        };
        row->setChip("every-block ×1.20 vs selective", "Measured here.");
        same("a verdict");
        row->setValue("selective", true);
        same("another value than the preset's");
        row->setProblem("id cannot be \"selective\"; it takes a sentence that is far too long for one line of a row, and goes on.");
        same("a mistake");
        row->setProblem({});
        row->setReason("Needs a GPU: no NVIDIA driver is installed on this machine, and this sentence is long.");
        same("a reason");
        row->setReason({});
        row->setFallback("selective does nothing beside the others.");
        same("a note");
        row->setInRun("every-block");
        same("another value in the run");
    }
}

TEST_F(ValueRowTest, WhatIsSaidOfARowIsBesideItAndWholeOnACard) {
    make("Norm", kWords);
    row->setChip("selective ×2.20", "Measured here.");
    row->setReason("Needs a GPU: no NVIDIA driver is installed.");
    show(kRoom);
    EXPECT_FALSE(chip()->isVisible()) << "the reason stands in its place";
    ASSERT_TRUE(row->remark()->isVisible());
    EXPECT_EQ(row->remark()->sentence(), "Needs a GPU: no NVIDIA driver is installed.");
    EXPECT_TRUE(row->remark()->toolTip().contains("no NVIDIA driver"));
    EXPECT_TRUE(row->remark()->accessibleName().contains("no NVIDIA driver"));
    QTest::mouseClick(row->remark(), Qt::LeftButton);
    bool read = false;
    for (const auto* label : row->findChildren<ToneLabel*>()) read = read || (label->isVisible() && label->text() == row->remark()->sentence());
    EXPECT_TRUE(read);
    row->setReason({});
    EXPECT_FALSE(row->remark()->isVisible());
    EXPECT_TRUE(chip()->isVisible());
}

TEST_F(ValueRowTest, NoPartLiesOverAnotherInTheNarrowestPanel) {
    for (const char* title : {"Norm", "Mixed precision", "Activation checkpointing", "A name that leaves no room for its list"}) {
        make(title, kWords);
        row->setNewRun("the weights are made for one model");
        showAll("inconclusive");
        show(std::max(row->minimumSizeHint().width(), 240));
        const QRect parts[] = {name(), reset(), chip()->geometry(), editor()};
        for (const QRect& one : parts) {
            EXPECT_TRUE(row->rect().contains(one)) << title;
            for (const QRect& other : parts) EXPECT_TRUE(&one == &other || !one.intersects(other)) << title;
        }
    }
}

TEST_F(ValueRowTest, TakesNoMoreHeightThanItNeedsInATallPanel) {
    QWidget panel;
    auto* layout = new QVBoxLayout(&panel);
    layout->setContentsMargins(0, 0, 0, 0);
    auto* first = new ValueRow("a", "Mixed precision", kWords);
    auto* second = new ValueRow("b", "Attention", kWords);
    layout->addWidget(first);
    layout->addWidget(second);
    layout->addStretch();
    panel.resize(kRoom, 900);
    panel.show();
    QCoreApplication::processEvents();
    EXPECT_LE(first->height(), first->heightForWidth(kRoom));
    EXPECT_LE(second->height(), second->heightForWidth(kRoom));
}

}  // namespace
}  // namespace stepscope
