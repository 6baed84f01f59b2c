// PaneStrip: the panes below a timeline, a tab each, that follow one range and one selection. It folds to its tabs. GUI thread.
#pragma once
#include <QWidget>
#include <vector>

#include "widgets/timeline/panes/Pane.h"

class QStackedWidget;
class QTabBar;
class QToolButton;

namespace stepscope {

class FlamePane;
class IdlePane;
class KernelsPane;
class LayersPane;
class MemoryPane;
class OperationsPane;
class OverviewPane;
class RooflinePane;
class ToneLabel;

class PaneStrip : public QWidget {
    Q_OBJECT
public:
    enum Tab { Overview, Operations, Kernels, Idle, Flame, Layers, Memory, Roofline, Tabs };
    explicit PaneStrip(QWidget* parent = nullptr);

    bool isOpen() const { return m_open; }
    void setOpen(bool open);
    Tab current() const;
    void showTab(Tab tab);  // and opens it
    // Beside the panes, at the left; null takes it away again. Not owned by the strip where it is taken away.
    void setGuest(QWidget* widget, const QString& title);
    void showGuest();

    void setView(const PanesView& view);  // without panes: nothing is known of what is shown now
    void setProblem(const QString& sentence);
    void setReading(bool reading);  // something newer is being read; what is shown stays
    const PanesView& view() const { return m_view; }
    void setSelected(const std::optional<QString>& name, bool onDevice);
    Pane& pane(Tab tab) const { return *m_panes[tab]; }
    OperationsPane& operations() const { return *m_operations; }
    KernelsPane& kernels() const { return *m_kernels; }
    IdlePane& idle() const { return *m_idle; }
    FlamePane& flame() const { return *m_flame; }
    LayersPane& layers() const { return *m_layers; }
    MemoryPane& memory() const { return *m_memory; }
    RooflinePane& roofline() const { return *m_roofline; }
    QToolButton* foldButton() const { return m_fold; }
    QTabBar* tabs() const { return m_tabs; }
    int foldedHeight() const;

Q_SIGNALS:
    void sliceWanted(qint64 lane, int depth, qint64 start);
    void nameWanted(const QString& name);
    void openChanged(bool open);
    void stopWanted();  // what is being read is not wanted

private:
    void showState();

    QTabBar* m_tabs;
    QToolButton *m_fold, *m_stop;
    ToneLabel* m_problem;
    QStackedWidget* m_stack;
    OverviewPane* m_overview;
    OperationsPane* m_operations;
    KernelsPane* m_kernels;
    IdlePane* m_idle;
    FlamePane* m_flame;
    LayersPane* m_layers;
    MemoryPane* m_memory;
    RooflinePane* m_roofline;
    std::vector<Pane*> m_panes;
    std::vector<bool> m_fresh;  // which of them show m_view
    PanesView m_view;
    std::optional<QString> m_selected;
    bool m_onDevice = false;
    QWidget* m_guest = nullptr;
    bool m_open = true;
};

}  // namespace stepscope
