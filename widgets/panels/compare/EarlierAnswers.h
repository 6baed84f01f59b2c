// The answers that the same question got earlier on this machine, newest first, each a link that opens it. Used by CompareForm and CompareResult;
// GUI thread.
#pragma once
#include <QWidget>

#include "widgets/panels/compare/CompareTypes.h"

class QVBoxLayout;

namespace stepscope {

class ToneLabel;

class EarlierAnswers : public QWidget {
    Q_OBJECT
public:
    static constexpr std::size_t kMost = 4;  // that are named one by one

    explicit EarlierAnswers(QWidget* parent = nullptr);
    void setAnswers(const std::vector<EarlierRow>& rows, std::size_t count);

Q_SIGNALS:
    void chosen(qint64 session, qint64 number);

private:
    ToneLabel* m_heading;
    QVBoxLayout* m_list;
    std::vector<EarlierRow> m_shown;
    std::size_t m_count = 0;
};

}  // namespace stepscope
