// OperationSpan: an operation of our own kernels while it runs, by name. LibTorch's observers see its operations and not ours; whoever asks what a
// step runs (core/profile/OperationCounter.h, later a timeline) listens here too. Costs the load of a pointer where nobody does.
#pragma once
#include <atomic>

namespace stepscope {

class OperationListener {
public:
    // Called on the thread that does the work. name: a literal. member: of the threads that share the operation, each of which has a span; 0 also
    // where one thread speaks for all.
    virtual void begin(const char* name, int member) = 0;
    virtual void end(const char* name, int member) = 0;

protected:
    ~OperationListener() = default;
};

// One at a time or none, changed between steps only.
inline std::atomic<OperationListener*>& operationListener() {
    static std::atomic<OperationListener*> listener{nullptr};
    return listener;
}

class OperationSpan {
public:
    explicit OperationSpan(const char* name, int member = 0)
        : m_listener(operationListener().load(std::memory_order_acquire)), m_name(name), m_member(member) {
        if (m_listener != nullptr) m_listener->begin(m_name, m_member);
    }
    ~OperationSpan() {
        if (m_listener != nullptr) m_listener->end(m_name, m_member);
    }
    OperationSpan(const OperationSpan&) = delete;
    OperationSpan& operator=(const OperationSpan&) = delete;

private:
    OperationListener* m_listener;
    const char* m_name;
    int m_member;
};

}  // namespace stepscope
