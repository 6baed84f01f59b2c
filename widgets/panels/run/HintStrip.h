// Three short hints on the first start, beside the log; each goes away for good when it is closed or was followed (QSettings). GUI thread.
#pragma once
#include <QWidget>
#include <array>

namespace stepscope {

class HintStrip : public QWidget {
    Q_OBJECT
public:
    explicit HintStrip(QWidget* parent = nullptr);
    enum Lesson { Run, Flip, Replay };
    void learnt(Lesson lesson);  // the person did it: the hint has done its work
    int shown() const;
    QSize minimumSizeHint() const override { return {200, 0}; }  // the log beside it says how high they stand

protected:
    void paintEvent(QPaintEvent*) override;

private:
    std::array<QWidget*, 3> m_cards{};
};

}  // namespace stepscope
