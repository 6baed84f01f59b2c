// FlameView: a flame graph in pixels, callers above what they called; a click gives a box all the width, search dims what does not fit, the arrow
// keys go from box to box. FlamePane: the pane around it. GUI thread.
#pragma once
#include <QLineEdit>
#include <QWidget>

#include "widgets/timeline/panes/Pane.h"

class QComboBox;
class QScrollArea;
class QToolButton;

namespace stepscope {

class ElidedLabel;
class ToneLabel;

class FlameView : public QWidget {
    Q_OBJECT
public:
    explicit FlameView(QWidget* parent = nullptr);

    // Kept by pointer: the tree lives until another one is set.
    void setTree(const FlameTree* tree, FlameOrder order);
    void setWords(const QString& words);
    void setSelected(const QString& name) {
        m_selected = name;
        update();
    }
    void zoomTo(std::uint32_t node);  // with all the width
    std::uint32_t shown() const { return m_shown; }
    std::optional<std::uint32_t> chosen() const { return m_chosen; }  // that the keys are at
    const std::vector<FlameBox>& boxes() const { return m_boxes; }
    QRect rectOf(const FlameBox& box) const;
    QString facts(std::uint32_t node) const;
    std::int64_t matching() const { return m_matching; }  // ns of what the words fit, counted once
    QString asCsv() const;                                // of the boxes that are drawn

    QSize sizeHint() const override;

Q_SIGNALS:
    void shownChanged();
    void nameWanted(const QString& name);

protected:
    void paintEvent(QPaintEvent*) override;
    void resizeEvent(QResizeEvent*) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    bool event(QEvent* event) override;

private:
    void layOut();
    void match();
    void describe();
    const FlameBox* boxOf(std::uint32_t node) const;  // null: not drawn
    const FlameBox* beside(const FlameBox& box, int key) const;
    bool fits(std::uint32_t node) const;
    const FlameBox* boxAt(QPoint at) const;
    int rowHeight() const { return fontMetrics().height() + 3; }

    const FlameTree* m_tree = nullptr;
    FlameOrder m_order = FlameOrder::Time;
    std::vector<FlameBox> m_boxes;
    std::uint32_t m_shown = 0;
    std::optional<std::uint32_t> m_chosen;
    QString m_words, m_selected;
    std::vector<bool> m_fitting;  // by text of the tree: whether the words are in it
    std::int64_t m_matching = 0;
};

class FlamePane : public Pane {
    Q_OBJECT
public:
    explicit FlamePane(QWidget* parent = nullptr);
    void setView(const PanesView& view) override;
    void setSelected(const std::optional<QString>& name, bool onDevice) override;
    QString asText() const override;

    FlameView& flame() { return *m_flame; }
    QComboBox* order() const { return m_choice; }
    QLineEdit* search() const { return m_search; }
    bool drawsTurned() const;  // bottom-up

Q_SIGNALS:
    void turnWanted();  // it is to be drawn bottom-up, and nobody has turned what it shows (RangePanes::turnFlame)

private:
    void showTree();
    void showState();

    std::shared_ptr<const RangePanes> m_panes;
    QString m_range;
    FlameView* m_flame;
    QScrollArea* m_scroll;
    QComboBox* m_choice;
    QLineEdit* m_search;
    QToolButton* m_whole;
    ElidedLabel* m_head;
    ToneLabel* m_empty;
};

}  // namespace stepscope
