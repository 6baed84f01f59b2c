// TimelineView: the timeline itself: lanes of nested slices, counters, a ruler and an overview, in one widget that paints its pixels. It reads
// nothing: it says which tiles and answers it wants, is told them whenever they are there, and draws with what it has, coarser where finer ones are
// missing. TimelinePaint.cpp paints, TimelineInput.cpp turns mouse and keys into what is shown. GUI thread.
#pragma once
#include <QElapsedTimer>
#include <QImage>
#include <QStaticText>
#include <QWidget>
#include <array>
#include <optional>

#include "widgets/timeline/CaptureGaps.h"
#include "widgets/timeline/TileShelf.h"
#include "widgets/timeline/TimelineLayout.h"
#include "widgets/timeline/TimelineLooks.h"

namespace stepscope {

class TimelineView : public QWidget {
    Q_OBJECT
public:
    explicit TimelineView(QWidget* parent = nullptr);

    void setContent(TimelineContent content);               // another session, or the same grown: what is seen stays then
    void setCounters(std::vector<CounterSeries> counters);  // of the same content: lanes do not wait for them
    void setCaptures(std::vector<std::pair<qint64, qint64>> captures);
    void setLosses(std::vector<TraceLoss> losses);  // by lane and time: marked at the upper edge of their lanes
    void addStyles(const std::vector<LodStyle>& styles);
    void forgetStyles();  // whoever reads began anew: tiles name other places now
    std::size_t styles() const { return m_looks.size(); }
    void addTiles(const std::vector<LodTilePtr>& tiles);
    void setSelected(const std::optional<TraceSlice>& slice, const std::vector<TraceSlice>& flows = {});
    void reveal(const TraceSlice& slice);  // brings it into view
    void clearSelection();                 // nor a range

    double from() const { return m_from; }
    double nsPerPixel() const { return m_nsPerPixel; }
    void setView(double from, double nsPerPixel);  // ns of the session's clock at the left of the lanes; ns a logical pixel
    void fit();
    void showNewest(qint64 from, qint64 to);    // of what grows, instead of all of it: until a person moves the view, or fit()
    void showSpan(qint64 from, qint64 to);      // that and a little around it, however wide this is
    bool showCapture(bool forwards);            // the next of them, or the one before; false: there is none
    void setSlack(double ns) { m_slack = ns; }  // how far beyond its content it may be moved; of another view that is locked to it
    std::optional<std::pair<qint64, qint64>> range() const { return m_range; }
    void setRange(const std::optional<std::pair<qint64, qint64>>& range);  // of another view that is locked to it: asks for no sums
    const std::optional<TraceSlice>& selected() const { return m_selected; }
    const std::vector<qint64>& marks() const { return m_marks; }
    QStringList markTexts() const;  // by time: where each stands on the ruler, and how far behind the one before
    const TimelineContent& content() const { return m_content; }
    std::vector<LookClass> looks() const;  // that are in sight, for the legend
    bool sharp() const { return m_missing.empty(); }
    bool overviewIsFresh() const { return m_overviewTiles != 0; }  // no tile has come since it was drawn
    QRect lanesRect() const;                                       // where slices are drawn
    int yOf(qint64 lane, int depth) const;
    double xOf(qint64 time) const { return lanesRect().left() + (static_cast<double>(time) - m_from) / m_nsPerPixel; }
    void setFolded(qint64 lane, bool folded);
    bool isFolded(qint64 lane) const { return m_folded.contains(lane); }
    QString asText() const;                // what is in sight, a line a lane
    QString lostWords(qint64 lane) const;  // "5 lost, 2 invalid"; empty: all of it is there

    QSize minimumSizeHint() const override { return {320, 160}; }

Q_SIGNALS:
    void tilesWanted(const std::vector<stepscope::TilePlace>& places);
    void sliceWanted(qint64 lane, int depth, qint64 time, qint64 near);
    void sumsWanted(qint64 from, qint64 to);
    void selectionCleared();
    void rangeChanged();  // by a person, while it is dragged too
    void tilesAdded();
    void clicked();       // by a person, on whatever
    void searchWanted();  // somebody wants to type a name
    void nextWanted(bool forwards);
    void flowWanted(bool forwards);
    void helpWanted();
    void viewChanged();

protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void changeEvent(QEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;
    void wheelEvent(QWheelEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    bool event(QEvent* event) override;

private:
    enum class Drag { None, Pan, Range, Overview };
    static constexpr double kLeastNsPerPixel = 0.5;

    // TimelinePaint.cpp
    void drawLanes(QPainter& painter, double ratio);
    void drawRow(const RowPicture& picture, double perPixel);
    void shade();
    void drawLabels(QPainter& painter, const TimelineRow& row, const std::vector<RowPicture::Bar>& bars, double ratio, int top);
    void drawCounter(QPainter& painter, const TimelineRow& row, int top);
    void drawNames(QPainter& painter);
    void drawRuler(QPainter& painter);
    void drawOverview(QPainter& painter);
    void drawOverlays(QPainter& painter);  // TimelineOverlays.cpp
    void drawLosses(QPainter& painter);    //
    void drawMarks(QPainter& painter);     //
    const QStaticText& label(std::uint32_t style, int width);
    void wantMissing();
    std::uint32_t colourOf(std::uint32_t style) const;

    void zoom(double factor, double x);
    void pan(double pixels);
    void scrollTo(int y);
    void clampView();
    void follow();
    void breakCounters();
    double wholeLength() const;     // ns of all of it; never so few that there is nothing to zoom
    double mostNsPerPixel() const;  // with all of it in sight
    int nameWidth() const;
    void clickAt(QPoint at);
    qint64 timeAt(double x) const;
    double overviewTime(double x) const;
    LaneSpan spanOf(const TraceLane& lane) const { return {lane.lane, lane.begin, lane.end, lane.finest}; }
    void changed();

    TimelineContent m_content;
    TimelineLayout m_layout;
    TileShelf m_shelf;
    std::vector<StyleLook> m_looks;
    std::vector<std::uint32_t> m_colours;  // of m_looks
    std::set<qint64> m_folded;
    double m_from = 0, m_nsPerPixel = 1e6, m_slack = 0;
    int m_scroll = 0;         // logical pixels
    bool m_following = true;  // shows all of what grows, or its newest part
    std::optional<std::pair<qint64, qint64>> m_newest;
    std::optional<TraceSlice> m_selected;
    std::vector<TraceSlice> m_flows;
    std::vector<TraceLoss> m_losses;     // by lane and time
    std::vector<CaptureSpans> m_breaks;  // of each counter: between captures, where nothing was measured
    std::vector<qint64> m_marks;
    std::optional<std::pair<qint64, qint64>> m_range, m_formerRange;  // m_formerRange: before the one that is being dragged
    std::set<TilePlace> m_missing, m_overviewMissing;                 // that were not there when the lanes, and when the overview were drawn last
    QImage m_strip, m_overviewImage;                                  // m_strip: of one row
    std::size_t m_overviewTiles = 0;
    std::vector<std::uint32_t> m_plain, m_hatched;  // one row of pixels: as it is, and with every pixel hatched that is a fold
    std::vector<std::uint32_t> m_line;
    std::vector<std::array<std::uint32_t, 32>> m_shades;  // of m_looks: sixteen strengths, plain and hatched
    QElapsedTimer m_overviewDrawn;
    RowPicture m_picture;  // its memory is used again row by row
    std::unordered_map<std::uint64_t, QStaticText> m_labels;
    std::unordered_map<std::uint32_t, std::vector<int>> m_prefixes;  // of a style's name, how wide its first n letters are
    QElapsedTimer m_moved;                                           // since the view changed last
    Drag m_drag = Drag::None;
    QPointF m_pressed, m_last;
    qint64 m_rangeFrom = 0;
    double m_cursor = -1;
};

}  // namespace stepscope
