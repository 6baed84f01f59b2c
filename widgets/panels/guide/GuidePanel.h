// The user guide in a window of its own, beside the run: chapters and search on the left, the text on the right. Made by
// app/gui when it is asked for the first time (F1). GUI thread.
#pragma once
#include <QWidget>

#include "widgets/panels/guide/GuideChapters.h"

class QLabel;
class QLineEdit;
class QListWidget;
class QTextBrowser;
class QUrl;

namespace stepscope {

class GuidePanel : public QWidget {
    Q_OBJECT
public:
    explicit GuidePanel(QWidget* parent = nullptr);
    ~GuidePanel() override;  // remembers size and place

    void open();                            // shows it in front, where it was left
    void showChapter(const QString& file);  // "charts.md"; unknown names change nothing
    QString chapter() const;                // file of the one that is shown
    void search(const QString& words);      // as if typed: leaves the chapters that have them, marks every place
    void findNext();                        // the next place, over chapters
    std::size_t chaptersShown() const;
    QTextBrowser& text() const { return *m_text; }

protected:
    void changeEvent(QEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;

private:
    void render();
    void showMatches();
    void markMatches();
    void follow(const QUrl& link);

    std::vector<GuideChapter> m_chapters;
    std::vector<QString> m_plain;  // of each chapter, for the search: without Markdown's signs
    QLineEdit* m_search;
    QListWidget* m_list;
    QLabel* m_nothing;
    QTextBrowser* m_text;
};

}  // namespace stepscope
