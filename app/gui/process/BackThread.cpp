#include "app/gui/process/BackThread.h"

#include "app/gui/process/Application.h"

namespace stepscope {

BackThread::BackThread() : m_thread([this](std::stop_token stop) { work(std::move(stop)); }) {}

BackThread::~BackThread() = default;  // jthread asks to stop and joins

void BackThread::post(std::function<void()> task) {
    {
        std::lock_guard lock(m_mutex);
        m_tasks.push_back(std::move(task));
    }
    m_wake.notify_one();
}

void BackThread::work(std::stop_token stop) {
    while (true) {
        std::function<void()> task;
        {
            std::unique_lock lock(m_mutex);
            if (!m_wake.wait(lock, stop, [this] { return !m_tasks.empty(); }) || stop.stop_requested()) return;
            task = std::move(m_tasks.front());
            m_tasks.pop_front();
        }
        try {
            task();
        } catch (const std::exception& thrown) {
            Application::report(thrown);
        }
    }
}

}  // namespace stepscope
