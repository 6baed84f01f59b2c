// One row of the experiment panel: what its name says, and where its parts stand when there is little room. Names and widths by geometry.
#include <gtest/gtest.h>

#include <QCoreApplication>
#include <QVBoxLayout>

#include "widgets/panels/TitleButton.h"
#include "widgets/panels/ToneLabel.h"
#include "widgets/panels/ValueEdit.h"
#include "widgets/panels/ValueRow.h"

namespace stepscope {
namespace {

constexpr int kRoom = 282;  // in a panel of 320, the width that a window begins with
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
    showAll("×2.2");
    EXPECT_TRUE(nameIsWhole());
    for (const QRect& other : {reset(), chip()->geometry(), editor()}) EXPECT_TRUE(sameLine(name(), other));
    EXPECT_LT(reset().right(), chip()->x());
    EXPECT_LT(chip()->geometry().right(), editor().left());
    EXPECT_EQ(editor().right() + 1, row->width());
}

TEST_F(ValueRowTest, AChipMovesBelowBeforeTheNameIsCut) {
    make("Mixed precision", kWords);
    const QRect before = editor();
    showAll("inconclusive");
    EXPECT_TRUE(nameIsWhole());
    EXPECT_TRUE(sameLine(name(), reset()));
    EXPECT_GT(chip()->y(), name().bottom());
    EXPECT_GE(chip()->width(), chip()->sizeHint().width()) << "all of it is read there";
    EXPECT_GT(row->height(), chip()->geometry().bottom());
    EXPECT_EQ(editor(), before) << "what comes and goes does not move the editor";
}

TEST_F(ValueRowTest, ALongNameTakesFromTheEditorAndSendsChipAndResetBelow) {
    make("Activation checkpointing", kWords);
    const QRect before = editor();
    showAll("×1.20 vs every-block");
    EXPECT_TRUE(nameIsWhole());
    EXPECT_TRUE(sameLine(name(), editor()));
    EXPECT_LT(editor().width(), 124);
    EXPECT_GT(reset().y(), name().bottom());
    EXPECT_TRUE(sameLine(reset(), chip()->geometry()));
    EXPECT_EQ(editor(), before);
}

TEST_F(ValueRowTest, WhereNothingElseHelpsTheEditorStandsBelowTheName) {
    make("A name that leaves no room for its list", kWords);
    showAll("×2.2");
    EXPECT_TRUE(nameIsWhole());
    EXPECT_GT(editor().top(), name().bottom());
    EXPECT_TRUE(sameLine(editor(), chip()->geometry()));
    EXPECT_EQ(editor().right() + 1, row->width());
    EXPECT_EQ(editor().width(), 124);
}

TEST_F(ValueRowTest, NoPartLiesOverAnotherInTheNarrowestPanel) {
    for (const char* title : {"Norm", "Mixed precision", "Activation checkpointing", "A name that leaves no room for its list"}) {
        make(title, kWords);
        showAll("inconclusive");
        show(row->minimumSizeHint().width());
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
