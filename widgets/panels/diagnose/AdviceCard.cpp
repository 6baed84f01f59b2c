#include "widgets/panels/diagnose/AdviceCard.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QVBoxLayout>

#include "widgets/panels/ToneLabel.h"
#include "widgets/style/Metrics.h"

namespace stepscope {
namespace {

QString adviceText(const std::string& text) {
    return QString::fromStdString(text);
}

QString evidenceText(const Advice& advice) {
    QStringList all;
    for (const Evidence& one : advice.evidence) all << QString("%1 %2").arg(adviceText(one.name), adviceText(one.text));
    return "Because: " + all.join("; ");
}

}  // namespace

AdviceCard::AdviceCard(const Advice& advice, QWidget* parent) : QFrame(parent), m_advice(advice) {
    setFrameShape(QFrame::StyledPanel);
    setAccessibleName(adviceText(advice.title));
    auto* layout = new QHBoxLayout(this);
    layout->setContentsMargins(space(3), space(2), space(2), space(2));
    layout->setSpacing(space(3));
    auto* texts = new QVBoxLayout;
    texts->setSpacing(space(1) / 2);
    auto* title = new QLabel(adviceText(advice.title));
    title->setTextFormat(Qt::PlainText);
    title->setWordWrap(true);
    title->setFont(headFont(title->font()));
    texts->addWidget(title);
    texts->addWidget(sentenceLabel(Tone::Normal, adviceText(advice.sentence)));
    texts->addWidget(sentenceLabel(Tone::Muted, evidenceText(advice)));
    layout->addLayout(texts, 1);
    m_what = advice.besideItself ? QString("Measures these settings beside themselves, on the page Compare")
             : !advice.inSteps   ? QString("Puts %1=%2 into the panel at the left; steps alone are timed, so there is nothing to measure")
                                     .arg(adviceText(advice.key), adviceText(advice.value))
                               : QString("Compares %1=%2 with %1=%3, on the page Compare")
                                     .arg(adviceText(advice.key), adviceText(advice.from), adviceText(advice.value));
    auto* right = new QVBoxLayout;
    right->setSpacing(space(1) / 2);
    const QString does = advice.inSteps ? QString("Test it") : QString("Use it");
    m_test = new QPushButton(does);
    m_test->setAutoDefault(false);
    m_test->setAccessibleName(does + ": " + adviceText(advice.title));
    right->addWidget(m_test);
    const QString change = advice.besideItself ? QString("beside itself") : QString("%1=%2").arg(adviceText(advice.key), adviceText(advice.value));
    auto* setting = new ToneLabel(Tone::Muted, change);
    setting->setFont(smallFont(setting->font()));
    setting->setAlignment(Qt::AlignHCenter);
    right->addWidget(setting);
    right->addStretch(1);
    layout->addLayout(right);
    setToolTip("This advice is given when: " + adviceText(advice.threshold));
    connect(m_test, &QPushButton::clicked, this, &AdviceCard::testRequested);
    setTestable(true, {});
}

void AdviceCard::setTestable(bool can, const QString& whyNot) {
    m_test->setEnabled(can);
    m_test->setToolTip(can ? m_what : whyNot);
}

}  // namespace stepscope
