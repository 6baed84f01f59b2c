// Where the parts of a row of the experiment panel stand: the name, then three columns that are the same in every row of a panel: the editor,
// beside it what is said of it and the sign, and the way back to the preset. The columns keep their places whether there is something in them or
// not; a name that is a little longer than what they leave ends with an ellipsis, one that is much longer has a line of its own above them, as has
// that of an editor that is wider than its column. Used by ValueRow; GUI thread.
#pragma once
#include <QLayout>
#include <vector>

namespace stepscope {

class RowLayout : public QLayout {
public:
    // In the order of addWidget(). Remark and Chip share their column: one of them is shown at a time.
    enum Part { Name, Sign, Editor, Remark, Chip, Reset };
    static constexpr int kEditorWidth = 116, kAsideWidth = 76;

    ~RowLayout() override;
    void addItem(QLayoutItem* item) override { m_items.push_back(item); }
    int count() const override { return static_cast<int>(m_items.size()); }
    QLayoutItem* itemAt(int index) const override;
    QLayoutItem* takeAt(int index) override;
    QSize sizeHint() const override;
    QSize minimumSize() const override;
    Qt::Orientations expandingDirections() const override { return Qt::Horizontal; }  // or rows would share what a tall panel has left
    bool hasHeightForWidth() const override { return true; }
    int heightForWidth(int width) const override;
    void setGeometry(const QRect& area) override;

private:
    struct Columns {
        int editor, editorWidth, aside, asideWidth, reset;
    };
    static Columns columnsOf(int width);
    int natural(Part part) const;  // width
    int signWidth() const;         // with the space before it; 0 where the row has none
    int editorNeeds(const Columns& columns) const;
    bool nameAbove(int width) const;
    int lineHeight() const;

    std::vector<QLayoutItem*> m_items;
};

}  // namespace stepscope
