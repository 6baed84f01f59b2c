// fuzz_briefly FUZZER [FIRST [COUNT]]: gives a fuzzer inputs that are damaged at random, the same ones each time: what has some sense at first, with
// bytes changed, cut out, doubled and mixed. It finds what breaks at once; libFuzzer's own programs (CMakeLists.txt) search. Where one breaks, its
// hundred was printed last, and FIRST runs one alone; a COUNT of 0 prints it.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "app/workbench/engine/StartWords.h"
#include "core/data/tokens/KnownText.h"
#include "core/trace/AllocationCodec.h"
#include "core/trace/LodCodec.h"
#include "core/trace/SampleCodec.h"
#include "core/trace/SliceCodec.h"
#include "core/trace/WorkerClocks.h"
#include "core/trace/WorkerTimes.h"
#include "core/train/workers/SaidChunks.h"
#include "sessions/exporters/ProtoMessage.h"
#include "sessions/record/ChunkPacking.h"
#include "sessions/wire/EventWire.h"
#include "sessions/wire/LineWords.h"

#define FUZZER(name) extern "C" int name(const std::uint8_t* bytes, std::size_t size);
STEPSCOPE_FUZZERS
#undef FUZZER

namespace {

using namespace stepscope;
using Fuzzer = int (*)(const std::uint8_t*, std::size_t);

const std::map<std::string_view, Fuzzer>& fuzzers() {
#define FUZZER(name) {#name, &name},
    static const std::map<std::string_view, Fuzzer> all{STEPSCOPE_FUZZERS};
#undef FUZZER
    return all;
}

std::string bytesOf(const Chunk& chunk) {
    return {reinterpret_cast<const char*>(chunk.bytes.data()), chunk.bytes.size()};
}

SliceBlock someSlices() {
    SliceBlock block{.thread = {.process = 1, .thread = 2, .number = 1, .name = "trainer"}};
    block.strings = {"", "aten::mm", "forward", "mlp/up"};
    block.arguments.push_back({.text = "Float[4,12] {Float[3];Float[4]} int", .flops = 100, .bytes = 10, .extra = R"({"a": 1})"});
    for (std::int64_t i = 0; i < 20; ++i)
        block.slices.push_back(
            {.start = i * 10, .duration = 8, .called = 2, .name = 1, .phase = 2, .role = 3, .arguments = 1, .layer = 1, .step = i / 5});
    return block;
}

// What begins with the number of records of a block: as the fuzzers of blocks take it.
std::string counted(const Chunk& chunk) {
    return std::string(1, static_cast<char>(chunk.count)) + bytesOf(chunk);
}

std::vector<std::string> seeds() {
    std::vector<std::string> all{
        "",
        R"({"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "GPU", "numSms": 80}], "traceEvents": [
{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 2, "ts": 10.125, "dur": 4, "args": {"External id": 7, "Input Dims": [[2, 3], []]}},
{"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 12, "dur": 1, "args": {"stream": 7, "correlation": 3, "grid": [1, 2, 3]}},
{"ph": "s", "id": 3, "cat": "ac2g", "name": "ac2g", "pid": 1, "tid": 2, "ts": 11}, {"ph": "C", "name": "memory", "pid": 1, "ts": 9, "args": {"value": 3}},
{"ph": "i", "s": "t", "cat": "cpu_instant_event", "name": "[memory]", "pid": 1, "tid": 2, "ts": 5, "args": {"Addr": 64, "Bytes": 512, "Device Id": 0}},
{"ph": "B", "name": "open", "pid": 1, "tid": 2, "ts": 1}, {"ph": "E", "pid": 1, "tid": 2, "ts": 2}], "traceName": "x"})",
        R"({"stepscopeRanks": {"ranks": [0, 2], "apart": 1000}, "stepscopeUnits": {"memory": "B"}, "traceEvents": [
{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 2001, "tid": 2, "ts": 0, "dur": 4, "args": {"Kind": "own", "Role": "mlp/up"}},
{"ph": "C", "name": "memory", "pid": 2001, "ts": 9, "args": {"value": 3}}]})",
        "step 1\ns:0 tel:10.9\ns:1 trl:9.5000 lr:0.000600 norm:1.20\ns:2 eval:0.2500\n",
        "run,step,time,metric,value\nr,1,0.5,loss,2.5\r\nr,1,0.5,step_ms,12\n\"r\",2,1,\"val\"\"loss\",3\nStep,r - time,r - loss\n1,0.5,2\n",
        "name: mine\nrungs:\n  - set: {amp: bf16}\n    title: half\n  - set: {fusion: step}\n",
        "SELECT name, sum(dur_ns) AS ns FROM op WHERE layer = 1 GROUP BY name ORDER BY ns DESC LIMIT 5",
        "{\"text\": \"In the beginning\\n\"}\n{\"text\": \"\\u0041\\ud83d\\ude00\", \"meta\": {\"a\": [1, 2.5e3, null, true]}}\n",
        R"({"added_tokens": [{"id": 2, "content": "<|endoftext|>"}], "normalizer": null, "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": false},
"post_processor": {"type": "ByteLevel"}, "model": {"type": "BPE", "dropout": null, "vocab": {"a": 0, "b": 1, "ab": 2}, "merges": ["a b", ["a", "b"]]}})",
        R"({"model": {"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2}, "merges": ["a b"]}, "added_tokens": [{"id": 3, "content": "<|end|>"}]})",
        std::string("\x60\0\0\0\0\0\0\0", 8) +
            R"({"w": {"dtype": "F32", "shape": [2, 2], "data_offsets": [0, 16]}, "__metadata__": {"format": "pt"}})" + std::string(40, ' '),
        R"({"version": 1, "step": 12, "cursor": 24, "seed": 1, "skipped": 2, "loss_scale": 65536.0, "clean_steps": 3, "loss": 5.5, "text": "a1",
"threads": 1, "workers": 1, "config": {"preset": "tiny-cpu", "layers": 1, "heads": 2, "width": 16, "lr": 0.001, "switches": {"amp": "fp16", "batch-size": 2}},
"xxh128": {"model.safetensors": "00ff"}, "tokenizer": {"kind": "byte"},
"model": {"n_layer": 1, "n_head": 2, "n_embd": 16, "vocab_size": 256, "n_positions": 16}})",
        R"({"model_type": "gpt2", "n_layer": 2, "n_head": 2, "n_embd": 16, "vocab_size": 61, "n_positions": 12, "activation_function": "gelu_new",
"layer_norm_epsilon": 1e-05, "n_inner": null, "scale_attn_weights": true, "tie_word_embeddings": true, "pruned_heads": {}})",
        R"({"metadata": {"total_size": 8}, "weight_map": {"a": "model-00001-of-00002.safetensors", "b": "model-00002-of-00002.safetensors"}})",
        std::string("\xc6\xd7\x34\x01\3\0\0\0\x0c\0\0\0\x3d\0\0\0\2\0\0\0\2\0\0\0\x10\0\0\0\x80\0\0\0", 32),
        "SQLite format 3",
        "V EXPORT_SCHEMA_VERSION 3.1\nE 1700000000000000000\nI 0 GPU 80 64\nS 1 cudaLaunchKernel\nS 2 cudaLaunchKernel_v7000\nS 3 gemm\nS 4 trainer\n"
        "R 100 110 16777218 9 1 0\nR 101 109 16777218 9 2 0\nK 120 130 0 1 7 9 16777216 3 3 8 4 1 128 1 1 32 0 1024 - 0\n"
        "G 140 150 0 1 7 10 16777216 3\nC 160 170 0 1 7 11 16777216 4096 1 1 2\nM 180 190 0 1 7 12 16777216 64 2 0\nY 200 210 0 1 7 13 16777216 3\n"
        "N 90 300 59 16777218 range -\nN 95 - 34 16777218 mark -\nA 105 16777216 0 64 512 0 2\nA 205 16777216 0 64 512 1 2\nO 1 2 16777218 0 4 0\n"
        "P 3 4 16777218 0 4 0\nT 16777218 4\n",
        std::string("\x1a\x09\0\0\0\x40\xfc\x54\xd9\x41\x10\x01\x2a\x0d\x0a\x0b\x0a\x04loss\x15\0\0\0\x40", 27),
        R"({"origin_ns": 5, "facts": {"deviceProperties": [{"id": 0, "name": "GPU", "numSms": 80, "warpSize": 32}], "distributedInfo": {"rank": 1}}})",
        R"({"operation": "aten::mm", "context": 1, "cat": "mine", "ph": "i", "id": 0, "numSms": 80, "maxThreadsPerMultiprocessor": 2048, "blocks per SM": 2.5})",
        "#version: 0.2\na b\nab c\n",
        "stepscope peaks 1\nm\nfloat32 1.0e+11\nbytes 1.0e+10\n",
    };
    const SliceBlock slices = someSlices();
    all.push_back(counted(encodeSlices(slices)));
    SampleBlock samples{.lane = 3, .name = "counters"};
    samples.series.push_back({"memory", "B"});
    for (std::int64_t i = 0; i < 20; ++i) samples.samples.push_back({i * 100, 1, static_cast<double>(i)});
    all.push_back(counted(encodeSamples(samples)));
    AllocationBlock memory{.lane = 4};
    memory.strings = {"", "activations", "aten::mm"};
    for (std::int64_t i = 1; i < 20; ++i)
        memory.allocations.push_back({.at = i * 10, .address = 64, .bytes = i % 2 == 0 ? -512 : 512, .kind = 1, .owner = 2});
    all.push_back(counted(encodeAllocations(memory)));
    const NamesBlock names{
        .lane = 1, .strings = {"", "aten::mm"}, .tables = {{.first = 1, .last = 9, .end = 12, .slices = 3, .sums = {{.name = 1, .count = 3}}}}};
    all.push_back('\2' + counted(encodeNames(names)));
    const std::vector<WorkerTimes::Step> steps{{.number = 7, .at = 1000}, {.number = 8, .at = 5000}};
    all.push_back(counted(encodeWorkerTimes({.phases = {"forward", "other"}, .workers = 2, .steps = steps, .ns = {9, 300, 5, 4, 8, 1, 6, 3}})));
    all.push_back(counted(encodeWorkerClocks({.at = 0, .readings = {{90, 0, 0}, {80, -5000, 300}}})));
    // What another worker says of its capture, behind a byte that says in which pieces.
    std::vector<std::byte> heard;
    for (int time = 0; time < 2; ++time) sayChunk(encodeSlices(slices), heard);
    all.push_back('\x0f' + std::string(reinterpret_cast<const char*>(heard.data()), heard.size()));
    const Chunk chunk = encodeSlices(slices);
    const std::string frame = packed(chunk);
    const auto said = static_cast<std::uint32_t>(chunk.bytes.size());
    all.push_back(std::string{static_cast<char>(said >> 16), static_cast<char>(said >> 8), static_cast<char>(said)} + frame);
    all.push_back(frame);
    // A trace of Perfetto's behind a byte that says how it is cut: a thread, a name, a slice with an annotation, a counter.
    ProtoMessage trace;
    const auto packet = [&](ProtoMessage fields) { trace.message(1, fields.whole(10, 1)); };
    packet(ProtoMessage().whole(13, 1));
    packet(ProtoMessage().message(60, ProtoMessage().whole(1, 1).message(3, ProtoMessage().whole(1, 5).bytes(6, "p (rank 1)"))));
    packet(ProtoMessage().message(60, ProtoMessage().whole(1, 2).whole(5, 1).message(4, ProtoMessage().whole(1, 5).whole(2, 6).bytes(5, "t"))));
    packet(ProtoMessage().message(60, ProtoMessage().whole(1, 3).bytes(2, "power").message(8, ProtoMessage().bytes(6, "W"))));
    const ProtoMessage interned = ProtoMessage()
                                      .message(1, ProtoMessage().whole(1, 1).bytes(2, "kernel"))
                                      .message(2, ProtoMessage().whole(1, 1).bytes(2, "gemm"))
                                      .message(3, ProtoMessage().whole(1, 1).bytes(2, "gpu"));
    packet(ProtoMessage()
               .whole(8, 100)
               .message(12, interned)
               .message(11, ProtoMessage().whole(9, 1).whole(11, 2).whole(10, 1).whole(3, 1).fixed64(47, 9).message(
                                4, ProtoMessage().whole(1, 1).whole(4, 0))));
    packet(ProtoMessage().whole(8, 120).message(11, ProtoMessage().whole(9, 4).whole(11, 3).real(44, 2.5)));
    packet(ProtoMessage().whole(8, 150).message(11, ProtoMessage().whole(9, 2).whole(11, 2)));
    all.push_back('\7' + trace.text());
    // What two processes say to each other, the first byte as WireFuzz takes it: the payload of an event, of a command, and two frames.
    const auto text = [](const FrameBytes& bytes) { return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()); };
    SessionInfo info;
    info.tags = {"a"};
    const FrameBytes begun = eventToBytes(1, SessionStarted{3, std::make_shared<const SessionInfo>(info), false});
    all.push_back('\3' + text(begun));
    all.push_back('\5' + text(commandToBytes(1, GenerateText{.prompt = "In the", .stop = {"."}})));
    all.push_back('\x0b' + text(attachToBytes({300})));
    all.push_back('\x0d' + text(safeToBytes({.number = 300, .all = true})));
    // And beside those, the first byte as StartWordsFuzz takes it.
    RunRequest request;
    request.tags = {"a"};
    request.capture = Capture{.steps = 3};
    request.scheduled = {{5, Flip{"amp", Value{0.5}}}, {6, Pause{}}};
    RunSummary summary;
    summary.why = "It broke.";
    all.push_back('\6' + text(startToBytes(request)));
    all.push_back('\7' + text(askedToBytes({info, TimeNs{300}})));
    all.push_back('\x08' + text(placeToBytes({7, "db-0123456789abcdef/7"})));
    all.push_back('\x09' + text(errorToBytes(makeError(ErrorCode::Io, "The disk is full."))));
    all.push_back('\x0a' + text(storedToBytes({300, true})));
    all.push_back('\x0b' + text(summaryToBytes(summary)));
    all.push_back('\x80' + text(frameOf(FrameType::Event, begun)) + text(frameOf(FrameType::Command, commandToBytes(1, Flip{"amp", Value{0.5}}))));
    all.push_back(std::string("\x1f\x8b\x08\0\0\0\0\0\0\3\xcb\x48\xcd\xc9\xc9\x07\0\x86\xa6\x10\x36\x05\0\0\0", 25));
    all.push_back(knownTextJson({hashOf("files"), hashOf("text"), "folder texts (2 files)", "1 file skipped"}));
    all.push_back(knownTextJson({hashOf("files"), hashOf("text"), "a.jsonl", "", 5, "{\"name\":\"char\",\"characters\":\"ab\"}"}));
    return all;
}

std::string damaged(const std::vector<std::string>& from, std::uint64_t number) {
    std::mt19937_64 random(number);
    const auto below = [&](std::size_t limit) { return limit == 0 ? 0 : static_cast<std::size_t>(random() % limit); };
    std::string text = from[below(from.size())];
    for (std::size_t changes = below(6); changes > 0; --changes) {
        const std::size_t at = below(text.size() + 1), length = below(std::min<std::size_t>(text.size() - at, 64) + 1);
        switch (random() % 6) {
            case 0:
                if (at < text.size()) text[at] = static_cast<char>(random());
                break;
            case 1:
                text.erase(at, length);
                break;
            case 2:
                text.insert(at, text.substr(at, length));
                break;
            case 3:
                text.insert(at, 1 + below(8), static_cast<char>(random()));
                break;
            case 4: {
                const std::string& other = from[below(from.size())];
                text.insert(at, other.substr(below(other.size() + 1), 200));
                break;
            }
            default:
                text.resize(at);
        }
        if (text.size() > 20'000) text.resize(20'000);
    }
    return text;
}

}  // namespace

int main(int argc, char** argv) {
    const auto found = argc > 1 ? fuzzers().find(argv[1]) : fuzzers().end();
    if (found == fuzzers().end()) {
        fmt::print(stderr, "fuzz_briefly FUZZER [FIRST [COUNT]]\n");
        for (const auto& [name, run] : fuzzers()) fmt::print(stderr, "  {}\n", name);
        return 2;
    }
    // Those that open a file or a database each time take a hundred times as long.
    const bool slow = found->first == "QueryFuzz" || found->first == "NsightFuzz" || found->first == "GzipFuzz" || found->first == "StoredFactsFuzz";
    const std::uint64_t first = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 0;
    const std::uint64_t count = argc > 3 ? std::strtoull(argv[3], nullptr, 10) : argc > 2 ? 1 : slow ? 300 : 5000;
    const auto all = seeds();
    if (count == 0) {
        const std::string text = damaged(all, first);
        return std::fwrite(text.data(), 1, text.size(), stdout) == text.size() ? 0 : 1;
    }
    for (std::uint64_t number = first; number < first + count; ++number) {
        if (number % 100 == 0) fmt::print("from {} on\n", number), std::fflush(stdout);
        const std::string text = damaged(all, number);
        (void)found->second(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
    }
    fmt::print("{}: {} inputs\n", found->first, count);
    return 0;
}
