// The page "Text": writes text with the weights as they are now. Prompt, length and the usual sampling controls; the text appears
// as it comes. Says why it is empty and what to do. GUI thread.
#pragma once
#include <QWidget>

#include "core/events/Command.h"
#include "core/events/RunEvents.h"
#include "core/events/SwitchCatalogue.h"

class QHBoxLayout;
class QLineEdit;
class QPlainTextEdit;
class QPushButton;
class QSettings;

namespace stepscope {

class NumberEdit;
class ToneLabel;

class TextPage : public QWidget {
    Q_OBJECT
public:
    explicit TextPage(QWidget* parent = nullptr);
    // Whether there are weights to write with, and if not, why and what to do.
    void setReady(bool ready, const QString& why);
    void setSource(const QString& sentence);  // whose weights these are, where they are not those of the run in progress; empty = they are
    void setText(const TextGenerated& text);
    void refuse(const QString& why);  // what was asked for does not come
    void clear();
    void save(QSettings& settings) const;
    void restore(const QSettings& settings);

Q_SIGNALS:
    void generateRequested(const stepscope::GenerateText& request);
    void stopRequested();  // what is written so far is enough

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;  // Esc leaves a field

private:
    QHBoxLayout* buildPrompt();
    QWidget* buildControls();
    void generate();
    void generateOrStop();
    void showState();

    struct Control {
        QString key;
        ValueRange range;
        NumberEdit* edit;
    };
    std::vector<Control> m_controls;

    QPlainTextEdit* m_prompt;
    QPushButton* m_generate;
    ToneLabel* m_problem;
    ToneLabel* m_caption;
    QPlainTextEdit* m_output;
    bool m_ready = false;
    bool m_waiting = false;  // asked, and not complete yet
    QString m_why;
    QString m_source;
    QString m_refusal;
};

}  // namespace stepscope
