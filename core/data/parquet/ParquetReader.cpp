// stepscope-parquet FILE COLUMN: writes the texts of a column of a parquet file to stdout, as frames (ParquetFrames.h). A program of its own, over
// the libraries of the PyPI wheel pyarrow, started by ParquetTexts.cpp: what a stranger's file does to those libraries ends here. Row group by row
// group and page by page, so a file of any size takes little memory; more than kMostMemory is refused.
#include <arrow/api.h>
#include <arrow/io/file.h>
#include <parquet/arrow/reader.h>
#include <parquet/arrow/schema.h>
#include <parquet/exception.h>
#include <parquet/file_reader.h>
#include <parquet/properties.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <exception>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/data/parquet/ParquetFrames.h"

namespace {

namespace frames = stepscope::parquet_frames;
using std::string;

constexpr std::int64_t kMostMemory = std::int64_t{2} << 30;  // of columns
constexpr rlim_t kMostOfAll = rlim_t{8} << 30;               // with what a footer makes Arrow take besides
constexpr std::int64_t kRowsAtOnce = 256, kPageBuffer = 1 << 20;
constexpr std::size_t kWriteAtOnce = 1 << 20;
constexpr std::size_t kColumnsNamed = 12, kNameShown = 60;

// What is wrong, as the rest of a sentence that begins with the file's name.
struct Refused {
    string why;
};

void require(const arrow::Status& status, const char* doing) {
    if (status.ok()) return;
    if (status.IsOutOfMemory()) throw Refused{"needs more than 2 GB of memory for one part of a column; write it again with smaller row groups."};
    throw Refused{string("cannot be read as parquet (") + doing + ": " + status.message().substr(0, 300) + "); fetch or write it again."};
}

template <class Value>
Value require(arrow::Result<Value> result, const char* doing) {
    require(result.status(), doing);
    return std::move(result).ValueUnsafe();
}

// Gathers frames, so that short texts are not written one by one.
class Out {
public:
    void frame(frames::Kind kind, std::string_view bytes) {
        const frames::Head head{kind, static_cast<std::uint32_t>(bytes.size())};
        m_waiting.append(reinterpret_cast<const char*>(&head), sizeof head);
        m_waiting.append(bytes);
        if (m_waiting.size() >= kWriteAtOnce) flush();
    }
    void flush() {
        std::string_view left = m_waiting;
        while (!left.empty()) {
            const ssize_t written = ::write(STDOUT_FILENO, left.data(), left.size());
            if (written < 0 && errno == EINTR) continue;
            if (written <= 0) ::_exit(1);  // nobody listens any more
            left.remove_prefix(static_cast<std::size_t>(written));
        }
        m_waiting.clear();
    }

private:
    string m_waiting;
};

bool isText(const arrow::DataType& type) {
    if (type.id() == arrow::Type::DICTIONARY) return isText(*static_cast<const arrow::DictionaryType&>(type).value_type());
    return type.id() == arrow::Type::STRING || type.id() == arrow::Type::LARGE_STRING || type.id() == arrow::Type::STRING_VIEW;
}

// Of a row that is not null.
std::string_view textAt(const arrow::Array& values, std::int64_t row) {
    switch (values.type_id()) {
        case arrow::Type::STRING:
            return static_cast<const arrow::StringArray&>(values).GetView(row);
        case arrow::Type::LARGE_STRING:
            return static_cast<const arrow::LargeStringArray&>(values).GetView(row);
        case arrow::Type::STRING_VIEW:
            return static_cast<const arrow::StringViewArray&>(values).GetView(row);
        default:
            throw Refused{"holds a column of texts in a form that is not known."};
    }
}

// Null where the row is, or the entry of a dictionary that it names.
std::optional<std::string_view> textOf(const arrow::Array& column, std::int64_t row) {
    if (column.IsNull(row)) return std::nullopt;
    if (column.type_id() != arrow::Type::DICTIONARY) return textAt(column, row);
    const auto& coded = static_cast<const arrow::DictionaryArray&>(column);
    const std::int64_t entry = coded.GetValueIndex(row);
    if (entry < 0 || entry >= coded.dictionary()->length()) throw Refused{"names an entry of a dictionary that is not there; write it again."};
    return textOf(*coded.dictionary(), entry);
}

// The leaf to read.
int columnOf(const parquet::arrow::FileReader& reader, const string& name) {
    string names;
    std::size_t named = 0;
    int found = -1;
    for (const auto& field : reader.manifest().schema_fields) {
        if (named++ < kColumnsNamed) names += (names.empty() ? "\"" : ", \"") + field.field->name().substr(0, kNameShown) + "\"";
        if (field.field->name() != name) continue;
        if (found >= 0) throw Refused{"has two columns \"" + name + "\"; write it again with one."};
        if (!isText(*field.field->type()) || field.column_index < 0)
            throw Refused{"has a column \"" + name + "\" that holds no texts (it is of the type " + field.field->type()->ToString().substr(0, 200) +
                          "); write it again with a column of strings."};
        found = field.column_index;
    }
    if (found >= 0) return found;
    if (named > kColumnsNamed) names += ", ...";
    throw Refused{"has no column \"" + name + "\"" + (names.empty() ? " and no other" : "; its columns are " + names) +
                  ". Write it again with its texts in that column, or as .jsonl."};
}

void read(const string& path, const string& name, Out& out) {
    arrow::CappedMemoryPool pool(arrow::system_memory_pool(), kMostMemory);
    parquet::ReaderProperties pages(&pool);
    pages.enable_buffered_stream();
    pages.set_buffer_size(kPageBuffer);
    pages.set_page_checksum_verification(true);
    parquet::ArrowReaderProperties rows(/*use_threads=*/false);
    rows.set_batch_size(kRowsAtOnce);
    rows.set_pre_buffer(false);  // it would hold whole row groups
    const auto file = require(arrow::io::ReadableFile::Open(path, &pool), "opening it");
    parquet::arrow::FileReaderBuilder builder;
    require(builder.Open(file, pages), "its footer");
    const auto reader = require(builder.memory_pool(&pool)->properties(rows)->Build(), "its schema");
    const int column = columnOf(*reader, name);

    std::vector<int> groups(static_cast<std::size_t>(reader->num_row_groups()));
    for (std::size_t i = 0; i < groups.size(); ++i) groups[i] = static_cast<int>(i);
    const auto batches = require(reader->GetRecordBatchReader(groups, {column}), "its columns");
    std::uint64_t nulls = 0, row = 0;
    for (std::shared_ptr<arrow::RecordBatch> batch;;) {
        require(batches->ReadNext(&batch), ("row " + std::to_string(row + 1) + " or behind it").c_str());
        if (batch == nullptr) break;
        // What the file says of itself is checked before it is followed: places of texts within their bytes, UTF-8.
        require(batch->ValidateFull(), ("row " + std::to_string(row + 1) + " or behind it").c_str());
        const auto& texts = *batch->column(0);
        for (std::int64_t i = 0; i < texts.length(); ++i, ++row) {
            const auto text = textOf(texts, i);
            nulls += text ? 0 : 1;
            if (text && text->size() > frames::kLongestText)
                throw Refused{"has a text of more than 134 MB in row " + std::to_string(row + 1) + "; no document is so long."};
            if (text) out.frame(frames::Text, *text);
        }
    }
    string count(sizeof nulls, '\0');
    std::memcpy(count.data(), &nulls, sizeof nulls);
    out.frame(frames::Done, count);
}

}  // namespace

int main(int argc, char** argv) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::signal(SIGPIPE, SIG_DFL);
    const rlimit all{kMostOfAll, kMostOfAll}, none{0, 0};
    ::setrlimit(RLIMIT_AS, &all);
    ::setrlimit(RLIMIT_CORE, &none);  // a file that ends us is no reason to fill the disk
    if (argc != 3) return 2;
    Out out;
    const auto failed = [&](string why) {
        why.resize(std::min<std::size_t>(why.size(), frames::kLongestSentence));
        out.frame(frames::Failed, why);
        out.flush();
        return 1;
    };
    try {
        read(argv[1], argv[2], out);
    } catch (const Refused& refused) {
        return failed(refused.why);
    } catch (const std::bad_alloc&) {
        return failed("needs more memory than there is; write it again with smaller row groups.");
    } catch (const std::exception& problem) {
        return failed(string("cannot be read as parquet (") + string(problem.what()).substr(0, 300) + "); fetch or write it again.");
    }
    out.flush();
    return 0;
}
