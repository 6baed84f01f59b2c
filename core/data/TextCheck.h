// TextCheck: whether bytes are a text that a run can read, and if not, which byte stands in the way. In pieces, so that it can be interrupted: asked
// by TextReader, and by app/workbench/DataCheck for a file that was chosen in the window. Any thread.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

#include "core/base/Result.h"

namespace stepscope {

class TextCheck {
public:
    // name: what the sentences call it. `bytes` stay where they are until done().
    TextCheck(std::string_view bytes, std::string name);

    // Looks at `count` bytes more, or a letter less. BadInput: empty, UTF-16, binary, or not UTF-8, with the offset of the first such byte.
    Status more(std::size_t count);
    std::size_t looked() const { return m_at; }  // bytes that are good
    bool done() const { return m_done; }         // as many as there are, or a byte that cannot stand

private:
    Status refuse(std::string_view what);
    Status atBeginning();
    std::size_t cutBefore(std::size_t wanted) const;

    std::string_view m_bytes;
    std::string m_name;
    std::size_t m_at = 0;
    bool m_done = false;
};

}  // namespace stepscope
