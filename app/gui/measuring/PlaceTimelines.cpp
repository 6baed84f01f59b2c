#include "app/gui/measuring/PlaceTimelines.h"

#include "app/gui/captured/OpenedTrace.h"
#include "widgets/timeline/LockedTimelines.h"

namespace stepscope {

struct PlaceTimelines::Opened : OpenedTrace {};

PlaceTimelines::PlaceTimelines(LockedTimelines& shown, std::string database, QObject* parent)
    : QObject(parent), m_shown(shown), m_database(std::move(database)) {
    m_shown.hide();
    for (TimelineView* view : {&shown.a(), &shown.b()})
        connect(view, &TimelineView::tilesWanted, this, [this, view](const std::vector<TilePlace>& places) { want(*view, places); });
}

PlaceTimelines::~PlaceTimelines() {
    ++m_reading;
}

void PlaceTimelines::hide() {
    ++m_reading;
    m_session = 0;
    m_ready = false;
    m_opened.reset();
    m_shown.hide();
}

void PlaceTimelines::show(std::int64_t session, const PlaceDifference& place) {
    m_place = place;
    m_shown.show();
    if (session <= 0) return m_shown.setSentence("This experiment was not recorded, so its captured steps are gone.");
    if (session == m_session && m_opened) {
        if (m_ready) tell();
        return;
    }
    m_session = session;
    m_ready = false;
    auto opened = std::make_shared<Opened>();
    opened->number = ++m_reading;
    m_opened = opened;
    m_shown.setSentence("Reading the captured steps.");
    m_thread.post([this, opened, session] {
        const auto goesOn = [this, number = opened->number] { return number == m_reading; };
        TimelineContent content{.session = session, .lanes = {}, .counters = {}};
        const Status done = [&]() -> Status {
            auto lanes = opened->open(m_database, session, goesOn);
            if (!lanes) return lanes.error();
            content.lanes = std::move(*lanes);
            return {};
        }();
        answer(this, [this, number = opened->number, done, content = std::move(content)] {
            if (number != m_reading) return;
            if (!done) {
                m_opened.reset();
                return m_shown.setSentence(QString::fromStdString(done.error().sentence));
            }
            for (TimelineView* view : {&m_shown.a(), &m_shown.b()}) view->forgetStyles();
            m_shown.setContent(content);
            m_ready = true;
            tell();
        });
    });
}

void PlaceTimelines::tell() {
    m_shown.showPlace(QString::fromStdString(m_place.where()), m_place.seenA.from, m_place.seenA.until, m_place.seenB.from, m_place.seenB.until);
}

// What is wanted later is asked for again, so that each list is read in one go.
void PlaceTimelines::want(TimelineView& view, const std::vector<TilePlace>& places) {
    if (!m_opened || places.empty()) return;
    m_thread.post([this, opened = m_opened, places, shown = &view, known = view.styles()] {
        if (opened->number != m_reading || !opened->index) return;
        answer(this, [this, number = opened->number, shown, told = readTiles(*opened->index, places, known)] {
            if (number != m_reading) return;
            if (!told.problem.empty()) return m_shown.setSentence(QString::fromStdString(told.problem));
            showTiles(*shown, told);
        });
    });
}

}  // namespace stepscope
