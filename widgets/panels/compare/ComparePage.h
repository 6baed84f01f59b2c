// The page "Compare": is B faster than A here? The question (CompareForm) or an experiment (CompareResult), one at a time. Takes plain structs, gives
// intents out as signals; app/gui/measuring/CompareWiring measures. GUI thread.
#pragma once
#include <QStackedWidget>

#include "widgets/panels/compare/CompareTypes.h"

namespace stepscope {

class CompareForm;
class CompareResult;

class ComparePage : public QStackedWidget {
    Q_OBJECT
public:
    explicit ComparePage(QWidget* parent = nullptr);

    CompareForm& form() { return *m_form; }
    CompareResult& result() { return *m_result; }
    void ask();                                // shows the question
    void showView(const CompareView& view);    // and the experiment
    void updateView(const CompareView& view);  // what is shown of it, without turning to it
    bool asking() const;
    void setBusy(CompareBusy busy, const QString& why = {});

private:
    CompareForm* m_form;
    CompareResult* m_result;
};

}  // namespace stepscope
