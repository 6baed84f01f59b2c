// ProtoMessage: a message of Protocol Buffers, field by field, as bytes. What Perfetto's traces and TensorBoard's events need of the format, and no
// more: https://protobuf.dev/programming-guides/encoding. Used by exporters; any thread.
#pragma once
#include <bit>
#include <cstdint>
#include <string>
#include <string_view>

namespace stepscope {

class ProtoMessage {
public:
    ProtoMessage& whole(std::uint32_t field, std::uint64_t value) {  // uint64, uint32, bool, enum; int64 as its two's complement
        tag(field, 0);
        varint(value);
        return *this;
    }
    ProtoMessage& integer(std::uint32_t field, std::int64_t value) { return whole(field, static_cast<std::uint64_t>(value)); }
    ProtoMessage& fixed64(std::uint32_t field, std::uint64_t value) {
        tag(field, 1);
        littleEndian(value, 8);
        return *this;
    }
    ProtoMessage& real(std::uint32_t field, double value) { return fixed64(field, std::bit_cast<std::uint64_t>(value)); }
    ProtoMessage& real32(std::uint32_t field, float value) {
        tag(field, 5);
        littleEndian(std::bit_cast<std::uint32_t>(value), 4);
        return *this;
    }
    ProtoMessage& bytes(std::uint32_t field, std::string_view value) {  // string, bytes, message
        tag(field, 2);
        varint(value.size());
        m_bytes += value;
        return *this;
    }
    ProtoMessage& message(std::uint32_t field, const ProtoMessage& value) { return bytes(field, value.m_bytes); }
    // Fields that were written elsewhere.
    ProtoMessage& append(std::string_view fields) {
        m_bytes += fields;
        return *this;
    }

    const std::string& text() const { return m_bytes; }
    bool empty() const { return m_bytes.empty(); }
    void clear() { m_bytes.clear(); }

private:
    void tag(std::uint32_t field, std::uint32_t type) { varint(std::uint64_t{field} << 3 | type); }
    void varint(std::uint64_t value) {
        for (; value >= 0x80; value >>= 7) m_bytes += static_cast<char>(value | 0x80);
        m_bytes += static_cast<char>(value);
    }
    void littleEndian(std::uint64_t value, int size) {
        for (int i = 0; i < size; ++i) m_bytes += static_cast<char>(value >> (8 * i));
    }

    std::string m_bytes;
};

}  // namespace stepscope
