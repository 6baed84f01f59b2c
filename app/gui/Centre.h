// Centre: the pages and, while a replay is shown, its transport bar in the row of their tabs, between the tabs and the button at the right. The
// row is there anyway, so nothing below moves when the bar comes and goes. Made by MainWindow; GUI thread.
#pragma once
#include <QWidget>

class QTabWidget;

namespace stepscope {

class TransportBar;

class Centre : public QWidget {
    Q_OBJECT
public:
    Centre(QTabWidget* pages, TransportBar* transport);  // owns both

protected:
    void resizeEvent(QResizeEvent* event) override;
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    void place();
    void fitTabs(int room);

    QTabWidget* m_pages;
    TransportBar* m_transport;
};

}  // namespace stepscope
