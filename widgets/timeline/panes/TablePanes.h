// Panes that are a table: operations, kernels, what streams of GPUs waited for, and what steps spent their time with. GUI thread.
#pragma once
#include <QStringList>
#include <array>

#include "widgets/timeline/panes/Pane.h"

namespace stepscope {

class PaneTable;

// A click on a row shows its longest slice.
class OperationsPane : public Pane {
    Q_OBJECT
public:
    explicit OperationsPane(QWidget* parent = nullptr);
    void setView(const PanesView& view) override;
    void setSelected(const std::optional<QString>& name, bool onDevice) override;
    QString asText() const override;
    PaneTable& table() { return *m_table; }

private:
    PaneTable* m_table;
    std::shared_ptr<const RangePanes> m_panes;
};

class KernelsPane : public Pane {
    Q_OBJECT
public:
    explicit KernelsPane(QWidget* parent = nullptr);
    void setView(const PanesView& view) override;
    void setSelected(const std::optional<QString>& name, bool onDevice) override;
    QString asText() const override;
    PaneTable& table() { return *m_table; }

private:
    PaneTable* m_table;
    std::shared_ptr<const RangePanes> m_panes;
};

class IdlePane : public Pane {
    Q_OBJECT
public:
    explicit IdlePane(QWidget* parent = nullptr);
    void setView(const PanesView& view) override;
    QString asText() const override;
    PaneTable& table() { return *m_table; }

private:
    PaneTable* m_table;
};

// Above its rows stands what stands out: up to three sentences, as far as there is room for them.
class OverviewPane : public Pane {
    Q_OBJECT
public:
    static constexpr int kNotes = 3;
    explicit OverviewPane(QWidget* parent = nullptr);
    void setView(const PanesView& view) override;
    QString asText() const override;
    PaneTable& table() { return *m_table; }
    const QStringList& notes() const { return m_notes; }
    const ElidedLabel& noteLine(int line) const { return *m_noteLines[static_cast<std::size_t>(line)]; }

protected:
    void resizeEvent(QResizeEvent* event) override;

private:
    void showNotes();

    PaneTable* m_table;
    QStringList m_notes;
    std::array<ElidedLabel*, kNotes> m_noteLines{};
};

// Why there are no kernels, and what would fill their place.
QString noKernelsSentence(const PanesView& view);

}  // namespace stepscope
