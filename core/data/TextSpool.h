// TextSpool: a text that is put together piece by piece, of the files of a folder or the rows of parquet. A short one lies in RAM; a longer one in a
// file without a name, which is mapped and gone when nobody reads it any more, so memory stays bounded whatever the text's size. Used by TextReader.
#pragma once
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "core/data/FreeMemory.h"
#include "core/data/MappedFile.h"

namespace stepscope {

class TextSpool {
public:
    static constexpr std::size_t kMostInRam = std::size_t{512} << 20;

    // folder: where the file lies, made when it is needed; empty: all stays in RAM. Beyond mostInRam, or what may grow of `free`, it goes there;
    // where no file can be made, it stays in RAM as long as that may grow.
    TextSpool(std::string folder, Bytes free, std::size_t mostInRam = kMostInRam);
    ~TextSpool();
    TextSpool(const TextSpool&) = delete;
    TextSpool& operator=(const TextSpool&) = delete;

    // Called by append() now and then, with the size so far.
    void tell(std::function<void(std::size_t)> grew) { m_grew = std::move(grew); }

    std::size_t size() const { return m_size; }
    std::size_t inRam() const { return m_text.size(); }  // of it
    bool onlyInRam() const { return m_folder.empty(); }
    // However long the piece is, not more than a few megabytes of it wait in RAM for the file. Io: that cannot be written; the sentence names the
    // folder.
    Status append(std::string_view piece);
    // Takes back what was appended when size() was more than this.
    Status cutTo(std::size_t size);

    struct Text {
        MappedFile file;    // the text lies here,
        std::string owned;  // or here
    };
    Result<Text> finish();

private:
    Status toFile();
    Status flush();
    Error cannotWrite(int why) const;

    std::string m_folder;
    std::size_t m_mayGrow, m_inRam, m_size = 0;
    std::string m_text;             // all of it, or what is not yet in the file
    std::optional<Error> m_noFile;  // why it has to stay in RAM though there was a folder
    std::function<void(std::size_t)> m_grew;
    std::size_t m_told = 0;
    int m_file = -1;
};

}  // namespace stepscope
