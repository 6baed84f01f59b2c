// A part of the experiment panel that folds: a header with a chevron, a title and, while folded, a summary of what is inside.
// GUI thread; remembers its state in QSettings under its title.
#pragma once
#include <QWidget>

class QLabel;
class QToolButton;
class QVBoxLayout;

namespace stepscope {

class FoldSection : public QWidget {
    Q_OBJECT
public:
    FoldSection(const QString& title, bool openAtFirst, QWidget* parent = nullptr);
    QVBoxLayout* body() const { return m_body; }
    void setSummary(const QString& summary);
    void setOpen(bool open);
    bool isOpen() const { return m_open; }

protected:
    void resizeEvent(QResizeEvent* event) override;

private:
    void showSummary();

    QString m_key;
    QString m_summaryText;
    QToolButton* m_header;
    QLabel* m_summary;
    QWidget* m_contents;
    QVBoxLayout* m_body;
    bool m_open;
};

}  // namespace stepscope
