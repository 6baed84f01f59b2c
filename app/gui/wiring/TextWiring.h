// The page "Text" and what writes for it: the run in progress with its weights as they are now, or, when none is looked at, a session's newest
// checkpoint, or weights that were chosen, read and run on a thread of its own. GUI thread.
#pragma once
#include <QObject>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "app/gui/process/BackThread.h"
#include "core/events/RunEvents.h"
#include "widgets/panels/TextPage.h"

namespace stepscope {

class RunController;
class RunWiring;
class Stage;

class TextWiring : public QObject {
    Q_OBJECT
public:
    struct Panels {  // that it speaks to
        TextPage& textPage;
    };
    TextWiring(const Panels& panels, RunController& runs, RunWiring& running, Stage& stage, std::string database, QObject* parent = nullptr);
    ~TextWiring() override;

    void lookAgain();  // the session that is looked at may have a checkpoint now
    // While that session is looked at, with this checkpoint of it instead of its newest.
    void writeWith(qint64 session, const QString& path, qint64 step);

private:
    struct Source {  // a session's newest checkpoint, or one that was chosen
        std::int64_t session = 0;
        std::string path;
        std::int64_t step = 0;  // -1: nobody knows
        QString why;            // there is none
    };

    void showState();
    QString whyNotNow() const;           // empty: text can be written
    bool wouldSlowARun() const;          // while a checkpoint writes
    std::int64_t sessionInView() const;  // whose checkpoint would write; 0 = a live run does, or nothing can
    bool liveWrites() const;
    void choose(const QString& path);
    void generate(const TextWish& wish);
    void takeLive(const TextGenerated& text);
    void stopWriting();
    void writeFrom(const Source& source, const TextWish& wish);

    Panels m_panels;
    RunController& m_runs;
    RunWiring& m_running;
    Stage& m_stage;
    std::string m_database;
    Source m_source, m_chosen;
    QString m_file;                        // or a folder: weights in place of the session's; empty: none
    std::vector<TextGenerated> m_several;  // that a run in progress writes beside each other, so far; empty: one at most
    std::int64_t m_asked = 0;              // session whose checkpoint is being looked for
    std::int64_t m_looked = 0;             // the session that was looked at last
    // Of the newest text; the thread that writes it looks at its own, so that no stop is lost to one that begins.
    std::shared_ptr<std::atomic<bool>> m_cutOff = std::make_shared<std::atomic<bool>>(false);
    BackThread m_thread;  // last: joined first
};

}  // namespace stepscope
