// The page "Text": writes text with the weights as they are now. Prompt, length and the usual sampling controls; the text appears
// as it comes. Under More: stops, penalties, several prompts, the type and the source of the weights. Says why it is empty and what to do. GUI
// thread.
#pragma once
#include <QWidget>
#include <string>
#include <vector>

#include "core/events/Command.h"
#include "core/events/RunEvents.h"
#include "core/events/SwitchCatalogue.h"

class QCheckBox;
class QComboBox;
class QHBoxLayout;
class QLineEdit;
class QPlainTextEdit;
class QPushButton;
class QSettings;
class QVBoxLayout;

namespace stepscope {

class FoldSection;
class NumberEdit;
class ToneLabel;
class WeightsButtons;

struct TextWish {
    GenerateText how;                  // its prompt is the first of them
    std::vector<std::string> prompts;  // written behind beside each other
    std::string dtype = "f32";         // of the weights, in the words of `generate --dtype`; those of a run in progress are float32
};

// What a person types as texts to stop at: between each two stands |. \n is the end of a line, \t a tabulator, \| a bar, \\ a backslash. Blanks
// count; an empty text is none.
std::vector<std::string> stopTexts(const QString& typed);

class TextPage : public QWidget {
    Q_OBJECT
public:
    explicit TextPage(QWidget* parent = nullptr);
    // Whether there are weights to write with, and if not, why and what to do.
    void setReady(bool ready, const QString& why);
    // Whose weights these are, where they are not those of the run in progress; empty = they are. file: chosen here.
    void setSource(const QString& sentence, bool file = false);
    void setLiveWeights(bool live);           // they are those of a run in progress, whose type is its own
    void setText(const TextGenerated& text);  // while several are awaited nothing: it is one of them
    // What there is behind each of several prompts, `of` in all; over: no more of them comes.
    void setTexts(const std::vector<TextGenerated>& texts, std::size_t of, bool over);
    void refuse(const QString& why);  // what was asked for does not come
    void clear();
    void save(QSettings& settings) const;
    void restore(const QSettings& settings);

Q_SIGNALS:
    void generateRequested(const stepscope::TextWish& wish);
    void stopRequested();                        // what is written so far is enough
    void weightsRequested(const QString& path);  // empty: those of the session again

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;  // Esc leaves a field

private:
    QHBoxLayout* buildPrompt();
    QWidget* buildControls();
    QWidget* buildMore();
    QVBoxLayout* cell(const QString& title, QWidget* edit);
    QVBoxLayout* numberCell(std::size_t spec);
    std::vector<std::string> prompts() const;
    QString wrong() const;  // of what is typed, a sentence
    void generate();
    void generateOrStop();
    void showState();
    void showMore();
    void showOutput(const QString& whole);
    void showCaption(const TextGenerated& text, bool complete);

    struct Control {
        QString key;
        ValueRange range;
        NumberEdit* edit;
    };
    std::vector<Control> m_controls;

    QPlainTextEdit* m_prompt;
    QPushButton* m_generate;
    FoldSection* m_more;
    QLineEdit* m_stops;
    QComboBox* m_type;
    QCheckBox* m_lines;
    WeightsButtons* m_weights;
    ToneLabel* m_problem;
    ToneLabel* m_caption;
    QPlainTextEdit* m_output;
    bool m_ready = false;
    bool m_waiting = false;  // asked, and not complete yet
    bool m_several = false;  // and for more than one
    bool m_fromFile = false, m_live = false;
    QString m_why;
    QString m_source;
    QString m_refusal;
};

}  // namespace stepscope
