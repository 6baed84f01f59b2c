// Centre: the pages and, while a replay is shown, its transport bar in a row of its own under their tabs. The pages begin below it; nothing else
// moves when it comes and goes. Made by MainWindow; GUI thread.
#pragma once
#include <QWidget>

class QStackedWidget;
class QTabWidget;

namespace stepscope {

class TransportBar;

class Centre : public QWidget {
    Q_OBJECT
public:
    Centre(QTabWidget* pages, TransportBar* transport);  // owns both

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    void place();

    QStackedWidget* m_stack;  // what of the tab widget holds the pages
    TransportBar* m_transport;
};

}  // namespace stepscope
