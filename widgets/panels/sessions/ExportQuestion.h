// ExportQuestion: where an export is written: a file dialog for one format or for several, whose ending says which. Of captures of several workers it
// has one choice more, all of them or one, as most readers of traces want a file for each. Made by whoever writes exports (app/gui); it goes with its
// dialog. GUI thread.
#pragma once
#include <QObject>
#include <vector>

#include "widgets/panels/sessions/ExportChoice.h"

class QComboBox;
class QFileDialog;
class QWidget;

namespace stepscope {

class ExportQuestion : public QObject {
    Q_OBJECT
public:
    // choices: at least one. parts: the first one is chosen at first; fewer than two: there is nothing to choose, and the dialog is the system's own.
    ExportQuestion(qint64 session, std::vector<ExportChoice> choices, const std::vector<ExportPart>& parts, const QString& title, QWidget* parent);

    QFileDialog& dialog() const { return *m_dialog; }
    QComboBox* parts() const { return m_parts; }  // null: nothing to choose

Q_SIGNALS:
    // word: of the format where there is one only; empty: the file's name says it.
    void answered(const QString& path, const QString& word, qint64 rank);

private:
    void addParts(const std::vector<ExportPart>& parts);
    void useFilter(const QString& filter);
    void suggestName();
    bool hasSuggestedName() const;
    qint64 rank() const;

    QFileDialog* m_dialog;  // this one's parent: a subclass of it would never be the system's
    qint64 m_session;
    std::vector<ExportChoice> m_choices;
    std::size_t m_choice = 0;
    QString m_suggested;
    QComboBox* m_parts = nullptr;
};

}  // namespace stepscope
