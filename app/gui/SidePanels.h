// The panels beside the charts, which can be folded away so that the charts have the whole width: by two buttons beside the tabs, by their keys,
// or by dragging a splitter to the edge. What is folded comes back as wide as it was. Made by MainWindow; GUI thread.
#pragma once
#include <QObject>
#include <array>

class QSplitter;
class QTabWidget;
class QToolButton;

namespace stepscope {

class SidePanels : public QObject {
    Q_OBJECT
public:
    // panels: left, centre, right. The buttons go to the corners of `tabs`.
    SidePanels(QSplitter* panels, QTabWidget* tabs, QObject* parent);

    bool isFolded(int side) const;  // 0 left, 1 right
    void setFolded(int side, bool folded);
    // After the splitter was restored: the buttons say what is.
    void refresh();

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    QSplitter* m_panels;
    std::array<QToolButton*, 2> m_buttons{};
    std::array<int, 2> m_widths{320, 248};  // when last unfolded
};

}  // namespace stepscope
