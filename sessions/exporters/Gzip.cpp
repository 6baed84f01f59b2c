#include "sessions/exporters/Gzip.h"

#include <zlib.h>

#include <array>
#include <new>
#include <streambuf>

namespace stepscope {
namespace {

constexpr int kGzip = 15 + 16;  // the largest window, with gzip's header
constexpr int kZlibLevel = 5;   // beyond it traces hardly get smaller and take twice as long

}  // namespace

class GzipStream::Buffer final : public std::streambuf {
public:
    explicit Buffer(std::ostream& into) : m_into(into) {
        if (deflateInit2(&m_zlib, kZlibLevel, Z_DEFLATED, kGzip, 8, Z_DEFAULT_STRATEGY) != Z_OK) throw std::bad_alloc();
        setp(m_plain.data(), m_plain.data() + m_plain.size());
    }
    ~Buffer() override { deflateEnd(&m_zlib); }
    Buffer(const Buffer&) = delete;
    Buffer& operator=(const Buffer&) = delete;

    bool finish() { return pack(Z_FINISH) && m_into.flush().good(); }

protected:
    int_type overflow(int_type c) override {
        if (!pack(Z_NO_FLUSH)) return traits_type::eof();
        if (!traits_type::eq_int_type(c, traits_type::eof())) {
            *pptr() = traits_type::to_char_type(c);
            pbump(1);
        }
        return traits_type::not_eof(c);
    }
    int sync() override { return m_into ? 0 : -1; }  // what is packed comes out when it does

private:
    bool pack(int flush) {
        m_zlib.next_in = reinterpret_cast<Bytef*>(pbase());
        m_zlib.avail_in = static_cast<uInt>(pptr() - pbase());
        do {
            m_zlib.next_out = reinterpret_cast<Bytef*>(m_packed.data());
            m_zlib.avail_out = static_cast<uInt>(m_packed.size());
            if (deflate(&m_zlib, flush) == Z_STREAM_ERROR) return false;
            m_into.write(m_packed.data(), static_cast<std::streamsize>(m_packed.size() - m_zlib.avail_out));
        } while (m_zlib.avail_out == 0 && m_into);
        setp(m_plain.data(), m_plain.data() + m_plain.size());
        return m_into.good();
    }

    std::ostream& m_into;
    z_stream m_zlib{};
    std::array<char, 1 << 16> m_plain{};
    std::array<char, 1 << 16> m_packed{};
};

GzipStream::GzipStream(std::ostream& into) : std::ostream(nullptr), m_buffer(std::make_unique<Buffer>(into)) {
    rdbuf(m_buffer.get());
}
GzipStream::~GzipStream() = default;

bool GzipStream::finish() {
    return m_buffer->finish() && good();
}

}  // namespace stepscope
