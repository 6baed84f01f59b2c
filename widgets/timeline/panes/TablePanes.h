// Panes that are a table: operations, kernels, what streams of GPUs waited for, and what steps spent their time with. GUI thread.
#pragma once
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

class OverviewPane : public Pane {
    Q_OBJECT
public:
    explicit OverviewPane(QWidget* parent = nullptr);
    void setView(const PanesView& view) override;
    QString asText() const override;
    PaneTable& table() { return *m_table; }

private:
    PaneTable* m_table;
};

// Why there are no kernels, and what would fill their place.
QString noKernelsSentence(const PanesView& view);

}  // namespace stepscope
