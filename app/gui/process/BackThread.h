// A thread that does one thing after the other so that the window never waits: SQLite, starting a run, exporting. Tasks run in
// the order they were posted; what they find out goes back by answer(), on the thread of the object that wants it.
#pragma once
#include <QMetaObject>
#include <QObject>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace stepscope {

class BackThread {
public:
    BackThread();
    ~BackThread();  // finishes the task in hand, drops the rest
    void post(std::function<void()> task);

private:
    void work(std::stop_token stop);

    std::mutex m_mutex;
    std::condition_variable_any m_wake;
    std::deque<std::function<void()>> m_tasks;
    std::jthread m_thread;  // last: everything above exists while it runs
};

// Runs `done` in the event loop of `receiver`'s thread; not at all when the receiver is gone by then. Any thread.
template <class Done>
void answer(QObject* receiver, Done done) {
    QMetaObject::invokeMethod(receiver, std::move(done), Qt::QueuedConnection);
}

}  // namespace stepscope
