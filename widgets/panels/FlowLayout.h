// A layout that sets its parts in a row and begins another where there is no room for the next: in a narrow page or under a large factor no button is
// cut. Each part has the size it asks for. Used by pages whose buttons are many; GUI thread.
#pragma once
#include <QLayout>
#include <memory>
#include <vector>

namespace stepscope {

class FlowLayout : public QLayout {
public:
    explicit FlowLayout(QWidget* parent = nullptr);
    ~FlowLayout() override;

    void addItem(QLayoutItem* item) override;  // owns it
    int count() const override { return static_cast<int>(m_items.size()); }
    QLayoutItem* itemAt(int index) const override;
    QLayoutItem* takeAt(int index) override;
    Qt::Orientations expandingDirections() const override { return {}; }
    bool hasHeightForWidth() const override { return true; }
    int heightForWidth(int width) const override;
    QSize sizeHint() const override;     // of one row
    QSize minimumSize() const override;  // of the widest part
    void setGeometry(const QRect& place) override;

private:
    int arrange(const QRect& place, bool moves) const;  // gives the height

    std::vector<std::unique_ptr<QLayoutItem>> m_items;
};

}  // namespace stepscope
