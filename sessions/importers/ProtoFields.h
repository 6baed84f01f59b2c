// ProtoFields: one message of protocol buffers, field by field, with nothing copied (https://protobuf.dev/programming-guides/encoding). What is
// written by ProtoMessage comes in again through it, and what others wrote. Used by the readers of this folder; the bytes are a stranger's.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace stepscope::importing {

template <class Number>
Number littleEndian(std::string_view bytes, std::size_t at) {
    Number value = 0;
    std::memcpy(&value, bytes.data() + at, sizeof value);  // every machine this runs on is
    return value;
}

// False ends it, and good() says whether it ended well.
class ProtoFields {
public:
    explicit ProtoFields(std::string_view bytes) : m_bytes(bytes) {}
    bool next() {
        if (m_bytes.empty()) return false;
        std::uint64_t key = 0;
        if (!varint(m_bytes, key)) return bad();
        field = static_cast<int>(key >> 3 & 0xfffffff);
        bytes = {};
        switch (key & 7) {
            case 0:
                return varint(m_bytes, number) || bad();
            case 1:
                return fixed(8) || bad();
            case 5:
                return fixed(4) || bad();
            case 2: {
                std::uint64_t size = 0;
                if (!varint(m_bytes, size) || size > m_bytes.size()) return bad();
                bytes = m_bytes.substr(0, size);
                m_bytes.remove_prefix(size);
                return true;
            }
            default:
                return bad();
        }
    }
    bool good() const { return m_good; }
    int field = 0;
    std::uint64_t number = 0;
    std::string_view bytes;  // of a text, a message, or a number of fixed size

    // The number at their begin, which is taken off; false: they end in it.
    static bool varint(std::string_view& bytes, std::uint64_t& value) {
        value = 0;
        for (unsigned shift = 0; shift < 64 && !bytes.empty(); shift += 7) {
            const auto byte = static_cast<unsigned char>(bytes.front());
            bytes.remove_prefix(1);
            value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
            if (byte < 0x80) return true;
        }
        return false;
    }

private:
    bool bad() {
        m_good = false;
        return false;
    }
    bool fixed(std::size_t size) {
        if (m_bytes.size() < size) return false;
        bytes = m_bytes.substr(0, size);
        m_bytes.remove_prefix(size);
        return true;
    }
    std::string_view m_bytes;
    bool m_good = true;
};

}  // namespace stepscope::importing
