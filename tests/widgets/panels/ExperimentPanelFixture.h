// The experiment panel over the small catalogue, with what a test does to it: type, choose, look.
#pragma once
#include <gtest/gtest.h>

#include <QComboBox>
#include <QLineEdit>
#include <QTest>

#include "PanelFixture.h"
#include "widgets/panels/TitleButton.h"
#include "widgets/panels/ToneLabel.h"
#include "widgets/panels/experiment/ExperimentPanel.h"
#include "widgets/panels/experiment/NumberEdit.h"
#include "widgets/panels/experiment/ValueEdit.h"
#include "widgets/panels/experiment/ValueRow.h"

namespace stepscope {

class ExperimentPanelTest : public testing::Test {
protected:
    ExperimentPanelTest() {
        panel.setChoice({"tiny-cpu", "No GPU here."});
        panel.setCatalogue(smallCatalogue());
        panel.resize(320, 900);
        panel.show();
        QObject::connect(&panel, &ExperimentPanel::edited, &panel, [this] { ++edits; });
        QObject::connect(&panel, &ExperimentPanel::flipRequested, &panel,
                         [this](const QString& id, const Value& value) { flips << id + "=" + QString::fromStdString(toString(value)); });
    }
    void type(const std::string& key, const QString& text) {
        auto* edit = panel.row(key)->findChild<NumberEdit*>();
        edit->findChild<QLineEdit*>()->setText(text);
        QTest::keyClick(edit, Qt::Key_Return);
    }
    void choose(const std::string& key, const QString& word) {
        auto* list = panel.row(key)->findChild<QComboBox*>();
        list->setCurrentText(word);
        Q_EMIT list->activated(list->currentIndex());
    }
    void choosePreset(const QString& id) {
        for (auto* list : panel.findChildren<QComboBox*>()) {
            if (list->accessibleName() != "Preset") continue;
            list->setCurrentIndex(list->findData(id));
            Q_EMIT list->activated(list->currentIndex());
        }
    }
    void commit(const std::string& key, const QString& text) { Q_EMIT panel.row(key)->committed(QString::fromStdString(key), text); }
    const QLabel* sign(const std::string& key) const {
        for (const auto* label : panel.row(key)->findChildren<QLabel*>())
            if (label->accessibleName() == "takes effect in a new run" && !label->isHidden()) return label;
        return nullptr;
    }
    QStringList sentences(const std::string& key) const {
        QStringList all;
        for (const auto* label : panel.row(key)->findChildren<ToneLabel*>())
            if (!label->isHidden() && !label->text().isEmpty()) all << label->text();
        return all;
    }
    TitleButton* button(const std::string& key, const QString& text) const {
        for (auto* found : panel.row(key)->findChildren<TitleButton*>())
            if (found->text() == text) return found;
        return nullptr;
    }

    ExperimentPanel panel;
    int edits = 0;
    QStringList flips;
};

}  // namespace stepscope
