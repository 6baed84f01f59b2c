// GzipStream: what is written to it arrives packed in another stream. Used by exporters; finish() says whether all of it did.
#pragma once
#include <memory>
#include <ostream>

namespace stepscope {

class GzipStream final : public std::ostream {
public:
    explicit GzipStream(std::ostream& into);
    ~GzipStream() override;
    // Ends the packed stream; nothing is written after it. False: something was not written.
    bool finish();

private:
    class Buffer;
    std::unique_ptr<Buffer> m_buffer;
};

}  // namespace stepscope
