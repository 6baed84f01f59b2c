#include "app/gui/captured/SideBySideWiring.h"

#include <algorithm>
#include <cmath>

#include "app/gui/captured/OpenedTrace.h"
#include "core/base/Format.h"
#include "widgets/panels/sessions/CapturesDialog.h"
#include "widgets/panels/sessions/SessionsModel.h"
#include "widgets/panels/sessions/SessionsPanel.h"
#include "widgets/timeline/LockedTimelines.h"
#include "widgets/timeline/SideBySideDialog.h"

namespace stepscope {
namespace {

constexpr std::int64_t kFarthest = std::int64_t{1} << 61;  // ns: what is stored may say anything
constexpr qsizetype kLongestName = 80;

QString counted(std::int64_t count) {
    return QString::fromStdString(format::count(count));
}

QString captureText(const StoredCapture& one) {
    QString number = QString("capture %1").arg(counted(one.number));
    if (one.steps <= 0) return number;
    if (one.steps == 1) return QString("%1: step %2").arg(number, counted(one.firstStep));
    return QString("%1: steps %2 to %3").arg(number, counted(one.firstStep), counted(cappedSum(one.firstStep, one.steps - 1)));
}

QString originText(const CapturedPart& part) {
    if (part.steps.empty()) return "its first slice, as nobody told of steps,";
    return part.steps.front().number > 0 ? "step " + counted(part.steps.front().number) : QString("its first step");
}

QString shortName(const std::string& name) {
    const QString text = QString::fromStdString(name).simplified();
    return text.size() <= kLongestName ? text : text.left(kLongestName) + "…";
}

QString takes(const TraceSlice& slice) {
    return timeText(static_cast<double>(slice.slice.duration));
}

}  // namespace

struct SideBySideWiring::Opened : OpenedTrace {
    TraceLanes lanes;
    CapturedPart part;
};

SideBySideWiring::SideBySideWiring(const Panels& panels, std::string database, QObject* parent)
    : QObject(parent), m_panels(panels), m_database(std::move(database)), m_dialog(new SideBySideDialog(&panels.window)) {
    connect(&panels.sessions, &SessionsPanel::sideBySideRequested, this, [this](qint64 a, qint64 b) { ask({a, 0}, {b, 0}); });
    connect(&panels.captures, &CapturesDialog::sideBySideRequested, this, [this](qint64 session, qint64 a, qint64 b) {
        ask({session, a}, {session, b});
    });
    connect(m_dialog, &SideBySideDialog::captureChosen, this, &SideBySideWiring::showCapture);
    connect(m_dialog, &QDialog::finished, this, [this] {
        ++m_reading;
        m_opened = {};
    });
    for (const int side : {0, 1}) {
        connect(&view(side), &TimelineView::tilesWanted, this, [this, side](const std::vector<TilePlace>& places) { want(side, places); });
        connect(&view(side), &TimelineView::sliceWanted, this,
                [this, side](qint64 lane, int depth, qint64 time, qint64 near) { find(side, lane, depth, time, near); });
        connect(&view(side), &TimelineView::sumsWanted, this, [this, side](qint64 from, qint64 to) { sum(side, from, to); });
        connect(&view(side), &TimelineView::selectionCleared, this, [this, side] {
            ++m_asked;
            tell(side, {}, {});
        });
    }
}

SideBySideWiring::~SideBySideWiring() {
    ++m_reading;
    ++m_asked;
}

TimelineView& SideBySideWiring::view(int side) {
    return side == 0 ? m_dialog->both().a() : m_dialog->both().b();
}

QString SideBySideWiring::titleOf(qint64 session) const {
    const SessionRow* row = m_panels.sessions.model().find(session);
    return row == nullptr ? QString("session %1").arg(session) : QString("session %1 “%2”").arg(session).arg(row->name);
}

Result<SideBySideWiring::Shown> SideBySideWiring::open(Opened& opened, const std::string& database, const Wanted& wanted,
                                                       const std::function<bool()>& goesOn) {
    Shown shown{.session = wanted.session, .captures = {}, .capture = 0, .lanes = {}, .part = {}};
    auto stored = storedCaptures(database, wanted.session);
    if (!stored) return stored.error();
    for (StoredCapture& one : stored->captures) {
        if (one.slices == 0) continue;
        one.from.ns = std::clamp(one.from.ns, -kFarthest, kFarthest);
        one.until.ns = std::clamp(one.until.ns, one.from.ns, kFarthest);
        shown.captures.push_back(one);
    }
    if (shown.captures.empty())
        return makeError(ErrorCode::NotFound,
                         "Session " + std::to_string(wanted.session) +
                             " has no capture with operations to show: \"Capture now\" while its run goes on records some, as does train --profile.");
    const auto found = std::ranges::find(shown.captures, wanted.capture, &StoredCapture::number);
    shown.capture = found == shown.captures.end() ? shown.captures.size() - 1 : static_cast<std::size_t>(found - shown.captures.begin());
    auto lanes = opened.open(database, wanted.session, goesOn);
    if (!lanes) return lanes.error();
    opened.lanes = *lanes;
    shown.lanes = std::move(*lanes);
    auto part = capturedPart(*opened.index, opened.lanes, shown.captures[shown.capture].from.ns, shown.captures[shown.capture].until.ns);
    if (!part) return part.error();
    opened.part = *part;
    shown.part = std::move(*part);
    return shown;
}

void SideBySideWiring::ask(const Wanted& a, const Wanted& b) {
    const std::uint64_t number = ++m_reading;
    ++m_asked;
    m_dialog->ask(titleOf(a.session), titleOf(b.session));
    for (auto& opened : m_opened) {
        opened = std::make_shared<Opened>();
        opened->number = number;
    }
    m_thread.post([this, number, wanted = std::array{a, b}, opened = m_opened] {
        const auto goesOn = [this, number] { return number == m_reading; };
        std::array<Shown, 2> shown;
        const Status done = [&]() -> Status {
            for (std::size_t side = 0; side < 2; ++side) {
                auto told = open(*opened[side], m_database, wanted[side], goesOn);
                if (!told) return told.error();
                shown[side] = std::move(*told);
            }
            return {};
        }();
        answer(this, [this, number, done, shown = std::move(shown)] {
            if (number != m_reading) return;
            if (!done) {
                m_opened = {};
                return m_dialog->both().setSentence(QString::fromStdString(done.error().sentence));
            }
            m_shown = shown;
            for (const int side : {0, 1}) {
                const Shown& one = m_shown[static_cast<std::size_t>(side)];
                QStringList captures;
                for (const StoredCapture& capture : one.captures) captures << captureText(capture);
                m_dialog->setCaptures(side, captures, static_cast<int>(one.capture));
                view(side).forgetStyles();
            }
            show();
        });
    });
}

// Either side may show as much before and behind its origin as the other, so that neither holds the other back.
void SideBySideWiring::show() {
    std::int64_t before = 0, behind = 1;
    for (const Shown& one : m_shown) {
        before = std::max(before, one.part.origin() - one.part.from);
        behind = std::max(behind, one.part.until - one.part.origin());
    }
    std::array<TimelineContent, 2> contents;
    for (std::size_t side = 0; side < 2; ++side) {
        const Shown& one = m_shown[side];
        contents[side] = {.session = one.session, .lanes = one.lanes, .counters = {}};
        contents[side].lanes.begin = one.part.origin() - before;
        contents[side].lanes.end = one.part.origin() + behind;
    }
    m_dialog->both().setSides(std::move(contents[0]), std::move(contents[1]), m_shown[0].part.origin(), m_shown[1].part.origin());
    m_dialog->both().say(lockedSentence());
}

QString SideBySideWiring::lockedSentence() const {
    return QString("Locked together: A from %1 on above, B from %2 on below. A click finds what stands there on the other side.")
        .arg(originText(m_shown[0].part), originText(m_shown[1].part));
}

void SideBySideWiring::showCapture(int side, int place) {
    const auto at = static_cast<std::size_t>(side);
    if (!m_opened[at] || place < 0 || place >= static_cast<int>(m_shown[at].captures.size())) return;
    ++m_asked;
    const StoredCapture& capture = m_shown[at].captures[static_cast<std::size_t>(place)];
    m_thread.post([this, opened = m_opened[at], at, place, from = capture.from.ns, until = capture.until.ns] {
        if (opened->number != m_reading || !opened->index) return;
        auto part = std::make_shared<const Result<CapturedPart>>(capturedPart(*opened->index, opened->lanes, from, until));
        if (*part) opened->part = **part;
        answer(this, [this, number = opened->number, at, place, part] {
            if (number != m_reading) return;
            if (!*part) return m_dialog->both().setSentence(QString::fromStdString(part->error().sentence));
            m_shown[at].capture = static_cast<std::size_t>(place);
            m_shown[at].part = **part;
            show();
        });
    });
}

// What is wanted later is asked for again, so that each list is read in one go.
void SideBySideWiring::want(int side, const std::vector<TilePlace>& places) {
    const auto& now = m_opened[static_cast<std::size_t>(side)];
    if (!now || places.empty()) return;
    m_thread.post([this, opened = now, side, places, known = view(side).styles()] {
        if (opened->number != m_reading || !opened->index) return;
        answer(this, [this, number = opened->number, side, told = readTiles(*opened->index, places, known)] {
            if (number != m_reading) return;
            if (!told.problem.empty()) return m_dialog->both().setSentence(QString::fromStdString(told.problem));
            showTiles(view(side), told);
        });
    });
}

void SideBySideWiring::find(int side, qint64 lane, int depth, qint64 time, qint64 near) {
    if (!m_opened[0] || !m_opened[1]) return;
    const auto at = static_cast<std::size_t>(side);
    const std::uint64_t question = ++m_asked;
    m_thread.post([this, own = m_opened[at], other = m_opened[1 - at], question, side, lane, depth, time, near] {
        if (question != m_asked || own->number != m_reading || !own->index || !other->index) return;
        struct Found {
            std::optional<TraceSlice> slice;
            SamePlace there;
        };
        const auto look = [&]() -> Result<Found> {
            auto slice = own->index->at(lane, depth, time, near);
            if (!slice) return slice.error();
            Found found{.slice = std::move(*slice), .there = {}};
            if (!found.slice) return found;
            auto there = samePlace({*own->index, own->lanes, own->part}, *found.slice, {*other->index, other->lanes, other->part});
            if (!there) return there.error();
            found.there = std::move(*there);
            return found;
        };
        auto found = std::make_shared<const Result<Found>>(look());
        answer(this, [this, number = own->number, question, side, found] {
            if (number != m_reading || question != m_asked) return;
            if (*found) return tell(side, (*found)->slice, (*found)->there);
            if (found->error().code != ErrorCode::Cancelled) m_dialog->both().say(QString::fromStdString(found->error().sentence));
        });
    });
}

// Also called with nothing: what was chosen is not any more.
void SideBySideWiring::tell(int side, const std::optional<TraceSlice>& slice, const SamePlace& there) {
    LockedTimelines& both = m_dialog->both();
    const bool inA = side == 0;
    both.choose(inA ? slice : there.slice, inA ? there.slice : slice, inA);
    if (!slice) return both.say(lockedSentence());
    const QString where = there.step > 0 ? QString(", step %1 of the capture").arg(counted(there.step)) : QString();
    const QString own = inA ? "A" : "B", other = inA ? "B" : "A";
    const QString name = shortName(slice->name);
    if (!there.slice) return both.say(QString("“%1”%2: %3 in %4; in %5 nothing stands there.").arg(name, where, takes(*slice), own, other));
    const TraceSlice& a = inA ? *slice : *there.slice;
    const TraceSlice& b = inA ? *there.slice : *slice;
    const QString others = there.slice->name == slice->name || slice->slice.kind == SliceKind::Step
                               ? QString()
                               : QString(", where “%1” stands in %2").arg(shortName(there.slice->name), other);
    const double change = a.slice.duration > 0 ? 100 * (static_cast<double>(b.slice.duration) / static_cast<double>(a.slice.duration) - 1) : NAN;
    const QString by = std::isfinite(change) ? QString(" (%1%2\u202F%)").arg(change < 0 ? "−" : "+").arg(std::abs(change), 0, 'f', 1) : QString();
    both.say(QString("“%1”%2%3: %4 in A, %5 in B%6. Locked at its begin; Esc locks at the first steps again.")
                 .arg(name, where, others, takes(a), takes(b), by));
}

void SideBySideWiring::sum(int side, qint64 from, qint64 to) {
    if (!m_opened[0] || !m_opened[1]) return;
    const auto at = static_cast<std::size_t>(side);
    const std::uint64_t question = ++m_asked;
    const auto apart = static_cast<qint64>(side == 0 ? m_dialog->both().offset() : -m_dialog->both().offset());
    m_thread.post([this, own = m_opened[at], other = m_opened[1 - at], question, side, from, to, apart] {
        if (question != m_asked || own->number != m_reading || !own->index || !other->index) return;
        const auto here = own->index->sums(from, to);
        const auto there = here ? other->index->sums(cappedSum(from, apart), cappedSum(to, apart)) : here;
        auto slices = std::make_shared<const Result<std::array<std::int64_t, 2>>>(
            there ? Result<std::array<std::int64_t, 2>>(side == 0 ? std::array{here->slices, there->slices} : std::array{there->slices, here->slices})
                  : Result<std::array<std::int64_t, 2>>(there.error()));
        answer(this, [this, number = own->number, question, took = to - from, slices] {
            if (number != m_reading || question != m_asked) return;
            if (*slices)
                return m_dialog->both().say(QString("%1 selected: %2 slices begin in it in A, %3 in B.")
                                                .arg(timeText(static_cast<double>(took)), counted((**slices)[0]), counted((**slices)[1])));
            if (slices->error().code != ErrorCode::Cancelled) m_dialog->both().say(QString::fromStdString(slices->error().sentence));
        });
    });
}

}  // namespace stepscope
