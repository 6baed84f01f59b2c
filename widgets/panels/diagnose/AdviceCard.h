// One piece of advice: what to do, what was seen, the numbers, when the rule speaks, and the button that tests it. Used by DiagnosePage; GUI thread.
#pragma once
#include <QFrame>

#include "core/advice/Advice.h"

class QPushButton;

namespace stepscope {

class AdviceCard : public QFrame {
    Q_OBJECT
public:
    explicit AdviceCard(const Advice& advice, QWidget* parent = nullptr);
    void setTestable(bool can, const QString& whyNot);
    QPushButton* testButton() const { return m_test; }
    const Advice& advice() const { return m_advice; }

Q_SIGNALS:
    void testRequested();

private:
    Advice m_advice;
    QPushButton* m_test;
    QString m_what;  // the button's tool tip
};

}  // namespace stepscope
