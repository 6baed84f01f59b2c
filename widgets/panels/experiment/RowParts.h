// What the rows of the experiment panel have in common: the way back to the preset, the sign of what takes effect in a new run, the sentence
// below. Used by ValueRow and DataChooser; GUI thread.
#pragma once
#include "widgets/panels/ToneLabel.h"

class QComboBox;

namespace stepscope {

class TitleButton;

// Hidden until it is told why.
class NewRunSign : public QLabel {
    Q_OBJECT
public:
    static constexpr int kWidth = 13;

    NewRunSign();
    void setWhy(const QString& why);  // may be empty
    bool applies() const { return m_applies; }

protected:
    void changeEvent(QEvent* event) override;

private:
    void draw();
    bool m_applies = false;
};

TitleButton* resetButton(const QString& title);  // hidden
ToneLabel* rowSentence(Tone tone);               // wrapped, below the row; hidden
// On Linux a screen reader is told of a list what is chosen in it, and its name only where a label stands for it.
void nameForReaders(QComboBox& list, const QString& name);
QString firstSentence(const QString& text);
inline QString waitsForNextRun() {
    return QStringLiteral("waits for the next run");
}

}  // namespace stepscope
