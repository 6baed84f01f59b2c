// A label in one of the theme's tones, which follows a switch from light to dark. Plain text unless told otherwise.
#pragma once
#include <QLabel>

namespace stepscope {

enum class Tone { Normal, Muted, Good, Warning, Error };
QColor toneColour(Tone tone);  // of the theme in use now

class ToneLabel : public QLabel {
    Q_OBJECT
public:
    explicit ToneLabel(Tone tone, const QString& text = {}, QWidget* parent = nullptr);
    void setTone(Tone tone);

protected:
    void changeEvent(QEvent* event) override;

private:
    void apply();
    Tone m_tone;
};

// A wrapped one, for sentences below a row.
ToneLabel* sentenceLabel(Tone tone, const QString& text = {});

}  // namespace stepscope
