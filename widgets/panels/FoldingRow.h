// Two groups of tools in one row where there is room for both, in two rows where not: in a small window nothing is cut or lies over its neighbour.
// Used by pages whose tools are many; GUI thread.
#pragma once
#include <QWidget>

class QBoxLayout;
class QLayout;

namespace stepscope {

class FoldingRow : public QWidget {
    Q_OBJECT
public:
    // stretch: of the two in one row. Owns both.
    FoldingRow(QLayout* first, QLayout* second, int stretchFirst = 0, int stretchSecond = 1, QWidget* parent = nullptr);
    bool folded() const;
    QSize minimumSizeHint() const override;  // of the two rows: it never asks for the width of one

protected:
    void resizeEvent(QResizeEvent*) override;

private:
    QLayout *m_first, *m_second;
    QBoxLayout* m_all;
};

}  // namespace stepscope
