// What the panel shows and where a link leads; how the text is laid out is in GuideLayout.cpp.
#include "widgets/panels/guide/GuidePanel.h"

#include <QDesktopServices>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLineEdit>
#include <QListWidget>
#include <QScrollBar>
#include <QSettings>
#include <QTextBrowser>
#include <QUrl>

#include "widgets/panels/LineIcon.h"
#include "widgets/panels/ToneLabel.h"
#include "widgets/panels/guide/GuideLayout.h"
#include "widgets/style/Metrics.h"
#include "widgets/style/Theme.h"

namespace stepscope {

GuidePanel::GuidePanel(QWidget* parent) : QWidget(parent, Qt::Window), m_chapters(readGuide()) {
    for (const auto& chapter : m_chapters) {
        QTextDocument plain;
        plain.setMarkdown(chapter.text);
        m_plain.push_back(plain.toPlainText());
    }
    setWindowTitle("Stepscope – guide");
    m_search = new QLineEdit;
    m_search->setPlaceholderText("search the guide");
    m_search->setAccessibleName("Search the guide");
    m_search->addAction(lineIcon("search"), QLineEdit::LeadingPosition);
    m_search->setClearButtonEnabled(true);
    m_list = new QListWidget;
    m_list->setAccessibleName("Chapters");
    m_list->setFrameShape(QFrame::NoFrame);
    m_list->setSpacing(2);
    for (const auto& chapter : m_chapters) m_list->addItem(chapter.title);
    m_nothing = sentenceLabel(Tone::Muted, "No chapter has these words. Fewer letters find more; Esc shows all.");
    m_nothing->hide();
    m_text = new QTextBrowser;
    m_text->setAccessibleName("Chapter");
    m_text->setFrameShape(QFrame::NoFrame);
    m_text->setOpenLinks(false);

    auto* side = new QVBoxLayout;
    side->setSpacing(space(2));
    side->addWidget(m_search);
    side->addWidget(m_nothing);
    side->addWidget(m_list, 1);
    auto* layout = new QHBoxLayout(this);
    layout->setContentsMargins(space(2), space(2), 0, 0);
    layout->setSpacing(space(2));
    layout->addLayout(side);
    layout->addWidget(m_text, 1);
    m_search->setFixedWidth(248);
    m_list->setFixedWidth(248);
    m_nothing->setFixedWidth(248);

    connect(m_list, &QListWidget::currentRowChanged, this, [this] { render(); });
    connect(m_search, &QLineEdit::textChanged, this, &GuidePanel::showMatches);
    connect(m_search, &QLineEdit::returnPressed, this, &GuidePanel::findNext);
    connect(m_text, &QTextBrowser::anchorClicked, this, &GuidePanel::follow);
    resize(920, 680);
    restoreGeometry(QSettings().value("guide/geometry").toByteArray());
    m_list->setCurrentRow(0);
}

GuidePanel::~GuidePanel() {
    QSettings().setValue("guide/geometry", saveGeometry());
}

void GuidePanel::open() {
    show();
    raise();
    activateWindow();
    m_search->setFocus();
}

QString GuidePanel::chapter() const {
    const int row = m_list->currentRow();
    return row < 0 ? QString() : m_chapters[static_cast<std::size_t>(row)].file;
}

void GuidePanel::showChapter(const QString& file) {
    for (std::size_t i = 0; i < m_chapters.size(); ++i)
        if (m_chapters[i].file == file) m_list->setCurrentRow(static_cast<int>(i));
}

std::size_t GuidePanel::chaptersShown() const {
    std::size_t shown = 0;
    for (int row = 0; row < m_list->count(); ++row) shown += m_list->item(row)->isHidden() ? 0 : 1;
    return shown;
}

void GuidePanel::search(const QString& words) {
    m_search->setText(words);
}

void GuidePanel::render() {
    const int row = m_list->currentRow();
    if (row < 0) return;
    m_text->setMarkdown(m_chapters[static_cast<std::size_t>(row)].text);
    layOutGuide(*m_text->document(), font(), palette());
    m_text->moveCursor(QTextCursor::Start);
    m_text->verticalScrollBar()->setValue(0);
    markMatches();
    if (!m_search->text().isEmpty()) m_text->find(m_search->text());
}

void GuidePanel::showMatches() {
    const QString words = m_search->text();
    int first = -1;
    for (int row = 0; row < m_list->count(); ++row) {
        const auto& chapter = m_chapters[static_cast<std::size_t>(row)];
        const auto places = words.isEmpty() ? 0 : m_plain[static_cast<std::size_t>(row)].count(words, Qt::CaseInsensitive);
        const bool fits = words.isEmpty() || places > 0;
        m_list->item(row)->setHidden(!fits);
        m_list->item(row)->setText(places > 0 ? QString("%1  (%2)").arg(chapter.title).arg(places) : chapter.title);
        if (fits && first < 0) first = row;
    }
    m_nothing->setVisible(first < 0);
    const QListWidgetItem* current = m_list->currentItem();
    if (first >= 0 && current != nullptr && current->isHidden()) return m_list->setCurrentRow(first);  // renders and marks
    markMatches();
    if (words.isEmpty()) return;
    m_text->moveCursor(QTextCursor::Start);
    m_text->find(words);
}

void GuidePanel::markMatches() {
    QList<QTextEdit::ExtraSelection> marks;
    QTextCharFormat format;
    format.setBackground(isDark(palette()) ? QColor(0x5a4a12) : QColor(0xffec9e));
    const QString words = m_search->text();
    for (QTextCursor at = words.isEmpty() ? QTextCursor() : m_text->document()->find(words, 0); !at.isNull();
         at = m_text->document()->find(words, at))
        marks.push_back({at, format});
    m_text->setExtraSelections(marks);
}

void GuidePanel::findNext() {
    const QString words = m_search->text();
    if (words.isEmpty() || chaptersShown() == 0 || m_text->find(words)) return;
    // Behind the last place of this chapter: the next one that has the words, and from the last one the first.
    int row = m_list->currentRow();
    do row = (row + 1) % m_list->count();
    while (m_list->item(row)->isHidden());
    if (row == m_list->currentRow())
        render();
    else
        m_list->setCurrentRow(row);
}

void GuidePanel::follow(const QUrl& link) {
    if (link.isRelative())
        showChapter(link.path());
    else
        QDesktopServices::openUrl(link);
}

void GuidePanel::changeEvent(QEvent* event) {
    QWidget::changeEvent(event);
    // Colours of tables are part of the text.
    if (event->type() != QEvent::PaletteChange) return;
    const int place = m_text->verticalScrollBar()->value();
    render();
    m_text->verticalScrollBar()->setValue(place);
}

void GuidePanel::keyPressEvent(QKeyEvent* event) {
    if (event->key() != Qt::Key_Escape) return QWidget::keyPressEvent(event);
    if (m_search->text().isEmpty())
        close();
    else
        m_search->clear();
}

}  // namespace stepscope
