// The pane Memory: what is in use over the range, of the host or a device, its highest point, and what was alive then: by what it is for, beside what
// was predicted, by who took it, or piece by piece. GUI thread.
#pragma once
#include "widgets/timeline/CaptureGaps.h"
#include "widgets/timeline/panes/Pane.h"

class QComboBox;
class QSplitter;

namespace stepscope {

class ElidedLabel;
class PaneTable;

// The curve by itself; a mark at the peak.
class MemoryView : public QWidget {
    Q_OBJECT
public:
    explicit MemoryView(QWidget* parent = nullptr);
    // memory: kept by pointer; null: nothing. missing: allocations that the curve is without, which stands over it. captures: between them nothing
    // was recorded, and the curve is broken; none: not told.
    void setMemory(const MemoryOfDevice* memory, std::int64_t from, std::int64_t to, std::int64_t missing, CaptureSpans captures = {});
    const CaptureSpans& gaps() const { return m_gaps; }  // of the curve, by time
    QString asCsv() const;
    QSize sizeHint() const override { return {240, 90}; }
    QSize minimumSizeHint() const override { return {140, 44}; }

protected:
    void paintEvent(QPaintEvent*) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void leaveEvent(QEvent*) override;

private:
    const MemoryOfDevice* m_memory = nullptr;
    std::int64_t m_from = 0, m_to = 0, m_missing = 0;
    CaptureSpans m_gaps;
    int m_cursor = -1;
};

class MemoryPane : public Pane {
    Q_OBJECT
public:
    explicit MemoryPane(QWidget* parent = nullptr);
    void setView(const PanesView& view) override;
    QString asText() const override;
    PaneTable& table() { return *m_table; }
    QComboBox* device() const { return m_device; }
    QComboBox* rowsOf() const { return m_rowsOf; }

private:
    void showDevice();
    void showKinds(const MemoryOfDevice& memory);
    void showOwners(const MemoryOfDevice& memory);
    void showPieces(const MemoryOfDevice& memory);
    bool predictedHere(const MemoryOfDevice& memory) const;

    PanesView m_view;
    std::shared_ptr<const RangePanes> m_panes;
    QComboBox *m_device, *m_rowsOf;
    bool m_chosen = false;  // which rows, by a person
    MemoryView* m_curve;
    PaneTable* m_table;
    QSplitter* m_split;
};

}  // namespace stepscope
