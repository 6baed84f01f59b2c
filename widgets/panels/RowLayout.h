// Where the parts of a row of the experiment panel stand: name, reset, chip, sign and editor, from left to right. The name keeps its natural
// width as long as it can: where there is no room for all, the editor shrinks, then chip and reset go to a second line, then the editor does.
// On which line the editor stands does not depend on chip and reset, which come and go. Used by ValueRow; GUI thread.
#pragma once
#include <QLayout>
#include <vector>

namespace stepscope {

class RowLayout : public QLayout {
public:
    // In the order of addWidget(). The editor has its greatest width where there is room; the chip is cut down to its least.
    enum Part { Name, Reset, Chip, Sign, Editor };

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
    struct Lines {
        std::vector<Part> above, below;  // from left to right
        int chipWidth = 0, editorWidth = 0;
    };
    Lines split(int width) const;
    bool shown(Part part) const;
    int natural(Part part) const;  // width; 0 when hidden
    int least(Part part) const;
    int taken(Part part) const;  // with the space before it; 0 when hidden
    int widthOf(Part part, const Lines& lines) const;
    int heightOf(const std::vector<Part>& line) const;
    void place(const std::vector<Part>& line, const QRect& area, const Lines& lines);

    std::vector<QLayoutItem*> m_items;
};

}  // namespace stepscope
