#include "core/base/OperationSpan.h"

namespace stepscope {

void OperationSpan::begin(const char* name, int worker, const StepPlace& place, OperationWork work) noexcept {
    m_heard = stepObservers.now();
    if (!m_heard) return;  // the last one has just gone
    m_facts = {name, worker, place, work};
    for (const auto& observer : *m_heard) observer->spanBegins(m_facts);
}

void OperationSpan::end() noexcept {
    for (auto observer = m_heard->rbegin(); observer != m_heard->rend(); ++observer) (*observer)->spanEnds(m_facts);
}

void StepRange::tellBegin(const RangeFacts& facts) noexcept {
    m_heard = stepObservers.now();
    if (!m_heard) return;
    m_facts = facts;
    for (const auto& observer : *m_heard) observer->rangeBegins(m_facts);
}

void StepRange::tellEnd() noexcept {
    for (auto observer = m_heard->rbegin(); observer != m_heard->rend(); ++observer) (*observer)->rangeEnds(m_facts);
    m_heard.reset();
}

}  // namespace stepscope
