#include "app/gui/wiring/FilesWiring.h"

#include <memory>
#include <utility>

#include "widgets/panels/experiment/ExperimentPanel.h"
#include "widgets/panels/files/FilesDialog.h"
#include "widgets/style/Words.h"

namespace stepscope {
namespace {

FolderAsked folderOf(const FilesAsked& asked) {
    FolderAsked folder{.path = asked.path.toStdString(), .foldersOnly = asked.foldersOnly};
    for (const QString& ending : asked.endings) folder.endings.push_back(ending.toStdString());
    return folder;
}

FilesView viewOfFolder(const Result<std::optional<FolderListed>>& listed) {
    FilesView view;
    if (!listed) {
        view.problem = words(listed.error().sentence);
        return view;
    }
    if (!*listed) return view;
    const FolderListed& folder = **listed;
    view.folder = words(folder.folder);
    view.file = words(folder.file);
    view.more = folder.more;
    view.hidden = folder.hidden;
    view.unnamed = folder.unnamed;
    view.problem = words(folder.problem);
    view.entries.reserve(folder.entries.size());
    for (const FolderEntry& entry : folder.entries) view.entries.push_back({words(entry.name), entry.folder, entry.bytes});
    return view;
}

}  // namespace

FilesWiring::FilesWiring(ExperimentPanel& panel, const std::optional<EngineElsewhere>& elsewhere, QObject* parent) : QObject(parent) {
    if (!elsewhere) return;
    m_host = words(elsewhere->host);
    m_engine.emplace(elsewhere->command);
    panel.setElsewhere(
        m_host, [this](QWidget* from, const FilesQuestion& question, RecentPaths::Chosen chosen) { choose(from, question, std::move(chosen)); });
}

FilesWiring::~FilesWiring() {
    ++m_newest;  // what the thread is at is wanted no more
    ++m_newestCheckpoint;
}

void FilesWiring::choose(QWidget* parent, const FilesQuestion& question, RecentPaths::Chosen chosen) {
    auto* dialog = new FilesDialog(m_host, question, parent);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    connect(dialog, &FilesDialog::listRequested, this, [this, dialog](quint64 number, const FilesAsked& asked) { list(dialog, number, asked); });
    connect(dialog, &FilesDialog::fileSelected, parent, std::move(chosen));
    connect(dialog, &QDialog::finished, this, [this] { ++m_newest; });
    dialog->open();
    dialog->begin();
}

void FilesWiring::withCheckpoint(const std::string& folder, std::function<void(const Result<RunConfig>& config)> use) {
    m_thread.post([this, folder, question = ++m_newestCheckpoint, use = std::move(use)] {
        const auto told = m_engine->look({.config = {}, .checkpoint = folder}, [this, question] { return question == m_newestCheckpoint; });
        if (told && !*told) return;
        const auto config = [&]() -> Result<RunConfig> {
            if (!told) return told.error();
            const WeightsLooked& looked = **told;
            if (looked.problem.empty() && looked.shaped) return *looked.shaped;
            return makeError(ErrorCode::NotFound, m_host.toStdString() + " cannot go on from " + folder + ": " + looked.problem);
        }();
        answer(this, [use, config = std::make_shared<const Result<RunConfig>>(config)] { use(*config); });
    });
}

void FilesWiring::list(const QPointer<FilesDialog>& dialog, quint64 number, const FilesAsked& asked) {
    m_thread.post([this, dialog, number, question = ++m_newest, folder = folderOf(asked)] {
        const auto wanted = [this, question] { return question == m_newest; };
        if (!wanted()) return;
        auto listed = m_engine->list(folder, wanted);
        if (!wanted()) return;
        answer(this, [dialog, number, view = viewOfFolder(listed)] {
            if (dialog) dialog->setView(number, view);
        });
    });
}

}  // namespace stepscope
