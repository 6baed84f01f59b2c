// exportSession(): a session in any of the formats that exports have, into a file that is whole or stays what it was. Which format, by its word or by
// the file's name. Called by the command line (sessions export, export-trace) and the window, on a reader thread.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "core/base/Result.h"
#include "sessions/exporters/ExportFile.h"
#include "sessions/exporters/OneRank.h"

namespace stepscope {

enum class ExportFormat { Kineto, Perfetto, MemorySnapshot, CsvLong, CsvWide, TensorBoard };

struct ExportFormatInfo {
    ExportFormat format{};
    std::string word;       // "perfetto", as --format takes it
    std::string about;      // "Perfetto's own format"
    std::string endings;    // of its files: "*.perfetto-trace *.pftrace"
    std::string name;       // of a file where none is given, %: the session's number
    bool captures = false;  // it is of what was captured, not of the run's steps
};
const std::vector<ExportFormatInfo>& exportFormats();
const ExportFormatInfo& infoOf(ExportFormat format);

// word: empty: the file's name says it, which is empty or "-" for `otherwise`. BadInput: neither says one; the sentence names them all.
Result<ExportFormat> exportFormatOf(const std::string& word, const std::string& path, ExportFormat otherwise);

// path: empty: ExportFormatInfo::name in this folder, with the rank where one is named; "-": stdout. rank: of what was captured that worker alone, as
// most readers of traces want a file for each; of a format that is not of captures BadInput. Returns the path that was written.
Result<std::string> exportSession(const std::string& database, std::int64_t session, const std::string& path, ExportFormat format,
                                  Existing existing = Existing::Replace, const ExportProgress& progress = {}, const OneRank& rank = {});

// What a person should know of the times in what was exported: a sentence, where nobody knows those of the session and the format has any of it; else
// empty.
std::string unknownTimesSentence(const std::string& database, std::int64_t session, ExportFormat format);

}  // namespace stepscope
