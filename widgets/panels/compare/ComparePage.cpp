#include "widgets/panels/compare/ComparePage.h"

#include "widgets/panels/compare/CompareForm.h"
#include "widgets/panels/compare/CompareResult.h"

namespace stepscope {

ComparePage::ComparePage(QWidget* parent) : QStackedWidget(parent), m_form(new CompareForm), m_result(new CompareResult) {
    setAccessibleName("Compare");
    addWidget(m_form);
    addWidget(m_result);
    connect(m_result, &CompareResult::askRequested, this, &ComparePage::ask);
}

void ComparePage::ask() {
    setCurrentWidget(m_form);
}

void ComparePage::showView(const CompareView& view) {
    m_result->setView(view);
    setCurrentWidget(m_result);
}

void ComparePage::updateView(const CompareView& view) {
    m_result->setView(view);
}

bool ComparePage::asking() const {
    return currentWidget() == m_form;
}

void ComparePage::setBusy(CompareBusy busy, const QString& why) {
    m_form->setBusy(busy, why);
    m_result->setRepeatable(busy == CompareBusy::Free);
}

}  // namespace stepscope
