// The keyboard and the menu of a chart.
#include <QAction>
#include <QClipboard>
#include <QFileDialog>
#include <QGuiApplication>
#include <QKeyEvent>
#include <QMenu>
#include <QMimeData>
#include <QScrollArea>
#include <QScrollBar>
#include <algorithm>

#include "widgets/charts/ChartExport.h"
#include "widgets/charts/LivePage.h"
#include "widgets/charts/overlay/OverlayTable.h"

namespace stepscope {

void LivePage::moveCursor(int rows) {
    if (m_overlay) {  // of several runs no row is the next one: a pixel
        const Scale x = m_range->scale();
        const double share = (m_range->cursor() ? x.toShare(*m_range->cursor()) : 0.5) + rows / std::max(1.0, m_charts[0]->plot().width());
        return m_range->setCursor(x.fromShare(std::clamp(share, 0.0, 1.0)));
    }
    if (!m_history || m_history->rows() == 0) return;
    const XAxis axis = m_range->axis();
    const auto last = static_cast<std::int64_t>(m_history->rows()) - 1;
    const auto row = m_range->cursor() ? static_cast<std::int64_t>(m_history->rowAt(axis, *m_range->cursor())) + rows : last;
    const double x = m_history->x(axis, static_cast<std::size_t>(std::clamp<std::int64_t>(row, 0, last)));
    m_range->show(x);
    m_range->setCursor(x);
}

ChartView* LivePage::focusedChart() const {
    const auto found = std::find_if(m_charts.begin(), m_charts.end(), [](const ChartView* chart) { return chart->hasFocus(); });
    if (found != m_charts.end()) return *found;
    return m_enlarged ? m_charts[*m_enlarged] : nullptr;
}

bool LivePage::stepBack() {
    for (OverlayTable* table : {m_statistics, m_flips})
        if (table->isVisible()) return table->close(), true;
    if (m_enlarged) return enlarge(std::nullopt), true;
    if (m_range->selection()) return clearSelection(), true;
    if (m_overlay) {
        Q_EMIT overlayCloseWanted();
        return true;
    }
    return false;
}

bool LivePage::keyOnChart(QKeyEvent* event, ChartView& chart) {
    constexpr double kPan = 0.15, kZoom = 0.7;
    const bool shift = event->modifiers() & Qt::ShiftModifier;
    if (event->matches(QKeySequence::Copy)) return copyPicture(chart), true;
    if ((event->modifiers() & ~(Qt::ShiftModifier | Qt::KeypadModifier)) != 0) return false;
    switch (event->key()) {
        case Qt::Key_Up:
            shift ? chart.panY(kPan) : chart.zoomY(kZoom, 0.5);
            return true;
        case Qt::Key_Down:
            shift ? chart.panY(-kPan) : chart.zoomY(1 / kZoom, 0.5);
            return true;
        case Qt::Key_L:
            chart.setLogarithmicY(!chart.logarithmicY());
            return true;
        case Qt::Key_Return:
        case Qt::Key_Enter:
            enlarge(m_enlarged ? std::nullopt : std::optional(static_cast<std::size_t>(std::ranges::find(m_charts, &chart) - m_charts.begin())));
            return true;
        default:
            return false;
    }
}

void LivePage::keyPressEvent(QKeyEvent* event) {
    constexpr double kPan = 0.15, kZoom = 0.7;
    const bool shift = event->modifiers() & Qt::ShiftModifier;
    if (ChartView* chart = focusedChart(); chart != nullptr && keyOnChart(event, *chart)) return hurry();
    if (event->modifiers() & (Qt::ControlModifier | Qt::AltModifier | Qt::MetaModifier)) return QWidget::keyPressEvent(event);
    switch (event->key()) {
        case Qt::Key_F:
            fit();
            break;
        case Qt::Key_Plus:
        case Qt::Key_Equal:
            m_range->zoom(kZoom, 0.5);
            break;
        case Qt::Key_Minus:
            m_range->zoom(1 / kZoom, 0.5);
            break;
        case Qt::Key_Left:
            shift ? moveCursor(-1) : m_range->pan(-kPan);
            break;
        case Qt::Key_Right:
            shift ? moveCursor(1) : m_range->pan(kPan);
            break;
        case Qt::Key_BracketLeft:
            markSelectionEdge(true);
            break;
        case Qt::Key_BracketRight:
            markSelectionEdge(false);
            break;
        case Qt::Key_PageUp:
            m_scroll->verticalScrollBar()->triggerAction(QAbstractSlider::SliderPageStepSub);
            break;
        case Qt::Key_PageDown:
            m_scroll->verticalScrollBar()->triggerAction(QAbstractSlider::SliderPageStepAdd);
            break;
        case Qt::Key_Escape:
            if (stepBack()) break;
            if (!m_range->cursor()) return QWidget::keyPressEvent(event);
            m_range->setCursor(std::nullopt);
            break;
        default:
            return QWidget::keyPressEvent(event);
    }
    hurry();
}

std::unique_ptr<QMenu> LivePage::menuOf(ChartView& chart) {
    auto menu = std::make_unique<QMenu>(this);
    const auto add = [&](QMenu* to, const QString& text, const QString& keys, auto&& what) {
        QAction* action = to->addAction(text);
        action->setShortcut(QKeySequence(keys));  // shown only: the page acts on the key
        action->setShortcutContext(Qt::WidgetShortcut);
        connect(action, &QAction::triggered, this, what);
        return action;
    };
    const auto index = static_cast<std::size_t>(std::ranges::find(m_charts, &chart) - m_charts.begin());
    add(menu.get(), m_enlarged ? tr("Show all charts") : tr("This chart alone"), QStringLiteral("Return"),
        [this, index] { enlarge(m_enlarged ? std::nullopt : std::optional(index)); });
    QAction* logarithmic = add(menu.get(), tr("Logarithmic y axis"), QStringLiteral("L"), [this, &chart] {
        chart.setLogarithmicY(!chart.logarithmicY());
        hurry();
    });
    logarithmic->setCheckable(true);
    logarithmic->setChecked(chart.yScale().logarithmic);
    logarithmic->setEnabled(chart.content().canBeLogarithmic());
    QAction* fitY = add(menu.get(), tr("Fit the y axis"), {}, [this, &chart] {
        chart.fitY();
        hurry();
    });
    fitY->setEnabled(chart.zoomedY());
    add(menu.get(), tr("Show the whole run"), QStringLiteral("F"), [this] { fit(); });

    menu->addSection(tr("Lines"));
    for (const LegendItem& item : chart.legend()) {
        if (item.series.isEmpty()) continue;
        QAction* shown = add(menu.get(), item.name, {}, [this, &chart, item] {
            if (m_overlay)
                Q_EMIT chart.hideWanted(item.series, !item.hidden);
            else
                chart.setHidden(item.series, !item.hidden);
            hurry();
        });
        shown->setCheckable(true);
        shown->setChecked(!item.hidden);
    }

    menu->addSeparator();
    add(menu.get(), tr("Copy the picture"), QStringLiteral("Ctrl+C"), [this, &chart] { copyPicture(chart); });
    add(menu.get(), tr("Copy the values"), {}, [this, &chart] {
        QGuiApplication::clipboard()->setText(QString::fromStdString(valuesOf(chart)));
        Q_EMIT said(tr("The values of the chart %1 are in the clipboard, as CSV.").arg(chart.content().title()), false);
    });
    for (const QString& kind : {QStringLiteral("png"), QStringLiteral("svg"), QStringLiteral("csv")})
        add(menu.get(), tr("Save as %1…").arg(kind.toUpper()), {}, [this, &chart, kind] { saveAs(chart, kind); });
    return menu;
}

void LivePage::copyPicture(ChartView& chart) {
    QGuiApplication::clipboard()->setMimeData(clipboardDataOf(chart).release());  // which owns it from here on
    Q_EMIT said(tr("The picture of the chart %1 is in the clipboard.").arg(chart.content().title()), false);
}

// The dialog completes the name before it asks whether a file that is there is to be written over.
void LivePage::saveAs(ChartView& chart, const QString& kind) {
    const QString name = chart.content().title().toLower().replace(' ', '-') + '.' + kind;
    const QString filter = kind == QStringLiteral("csv")   ? tr("Values (*.csv)")
                           : kind == QStringLiteral("svg") ? tr("Drawing (*.svg)")
                                                           : tr("Picture (*.png)");
    auto* dialog = new QFileDialog(this, tr("Save the chart %1").arg(chart.content().title()), name, filter);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setAcceptMode(QFileDialog::AcceptSave);
    dialog->setDefaultSuffix(kind);
    connect(dialog, &QFileDialog::fileSelected, this, [this, &chart](const QString& path) {
        const auto saved = saveChart(chart, path);
        Q_EMIT said(saved ? tr("Saved %1.").arg(path) : QString::fromStdString(saved.error().sentence), !saved);
    });
    dialog->open();
}

}  // namespace stepscope
