// Traces and .npy files as inputs: what results say about them, and every bad file.
#include <gtest/gtest.h>

#include <functional>
#include <limits>

#include "program.hpp"
#include "santa/attention/synthetic.hpp"
#include "trace_file.hpp"

namespace santa::test {
namespace {

using nlohmann::json;

std::vector<std::string> trace_run(const std::string& path,
                                   const std::vector<std::string>& more = {}) {
  std::vector<std::string> arguments = {"run", "--config", "tiny-test", "--trace", path};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

json run_json(std::vector<std::string> arguments) {
  arguments.insert(arguments.end(), {"--json", "-"});
  const Outcome outcome = run_program(arguments);
  expect_success(outcome);
  return json::parse(outcome.out);
}

TEST(TraceInput, ProvenanceIsInTheResult) {
  const TemporaryFolder folder;
  const std::string path = folder / "trace.safetensors";
  write_file(path, small_trace({2, 7}).bytes());
  const json report = run_json(trace_run(path));
  const json& input = report["input"];
  EXPECT_EQ(input["kind"], "trace");
  EXPECT_EQ(input["synthetic"], false);
  EXPECT_EQ(input["source"], path);
  EXPECT_EQ(input["sha256"].get<std::string>().size(), 64U);
  EXPECT_EQ(input["model"], "little-model");
  EXPECT_EQ(input["model_licence"], "Apache-2.0");
  EXPECT_EQ(input["text_licence"], "public domain");
  EXPECT_EQ(input["layers"], json({2, 7}));
  EXPECT_EQ(input["requests"], 4);
  EXPECT_EQ(input["softmax_scale"], 0.25);
  EXPECT_TRUE(input["reference_to_model_relative_l2"].is_null());
  const Outcome table = run_program(trace_run(path));
  EXPECT_NE(table.out.find("REAL: little-model"), std::string::npos);
  EXPECT_NE(table.out.find("Apache-2.0"), std::string::npos);
}

TEST(TraceInput, OneLayerOfSeveral) {
  const TemporaryFolder folder;
  const std::string path = folder / "trace.safetensors";
  const std::string alone = folder / "alone.safetensors";
  write_file(path, small_trace({2, 7}).bytes());
  write_file(alone, small_trace({7}).bytes());
  json report = run_json(trace_run(path, {"--layers", "7"}));
  json expected = run_json(trace_run(alone));
  for (json* each : {&report, &expected}) {
    each->erase("input");
    each->erase("provenance");
  }
  EXPECT_EQ(report, expected);
  expect_refused(run_program(trace_run(path, {"--layers", "7,9"})), {"--layers", "9", "2, 7"});
}

TEST(TraceInput, ModelOutputIsCompared) {
  const TemporaryFolder folder;
  const std::string path = folder / "trace.safetensors";
  TraceParts trace = small_trace();
  trace.tensors["layers.0.output"] = float_tensor({4, 16}, std::vector<float>(64, 1000.0F));
  write_file(path, trace.bytes());
  const json report = run_json(trace_run(path));
  EXPECT_NEAR(report["input"]["reference_to_model_relative_l2"].get<double>(), 1.0, 0.01);
}

// Without keys every output is 0, and so is every error.
TEST(TraceInput, EmptyContext) {
  const TemporaryFolder folder;
  const std::string path = folder / "trace.safetensors";
  TraceParts trace = small_trace();
  trace.tensors["layers.0.key"] = float_tensor({2, 0, 16}, {});
  trace.tensors["layers.0.value"] = float_tensor({2, 0, 16}, {});
  trace.metadata["context_length"] = "0";
  trace.metadata["decode_position"] = "0";
  write_file(path, trace.bytes());
  const json report = run_json(trace_run(path));
  EXPECT_EQ(report["input"]["context"], 0);
  EXPECT_EQ(report["samples"]["drawn"], 0);
  EXPECT_EQ(report["accuracy"]["relative_l2"], 0.0);
  EXPECT_EQ(report["traffic"]["key_bytes"], 0);
}

// Equal weights over values of alternating sign: the exact output is 0, so no error is relative to
// it.
TEST(TraceInput, ExactOutputOfZeroIsSaidSo) {
  const TemporaryFolder folder;
  const std::string path = folder / "trace.safetensors";
  TraceParts trace = small_trace();
  std::vector<float> values;
  for (int e = 0; e < 2 * 100 * 16; ++e) values.push_back(e / 16 % 2 == 0 ? 1.0F : -1.0F);
  trace.tensors["layers.0.query"] = float_tensor({4, 16}, std::vector<float>(64, 0.0F));
  trace.tensors["layers.0.value"] = float_tensor({2, 100, 16}, values);
  trace.tensors["layers.0.output"] = float_tensor({4, 16}, std::vector<float>(64, 0.0F));
  write_file(path, trace.bytes());
  std::vector<std::string> arguments = trace_run(path);
  arguments.insert(arguments.end(), {"--samples", "1"});
  const json report = run_json(arguments);
  EXPECT_TRUE(report["accuracy"]["relative_l2"].is_null());
  EXPECT_TRUE(report["accuracy"]["worst_head_relative_l2"].is_null());
  EXPECT_EQ(report["accuracy"]["missing_reason"], "the exact output is 0 everywhere");
  EXPECT_LT(report["accuracy"]["log_sum_exp_error"], 0.01);
  EXPECT_EQ(report["input"]["reference_to_model_relative_l2"], 0.0);
  EXPECT_EQ(report["baselines"]["dense"]["accuracy"]["relative_l2"], 0.0);
}

// Integers with their scales give the same unit as the floats they stand for.
TEST(TraceInput, IntegerTensors) {
  const TemporaryFolder folder;
  const std::string path = folder / "trace.safetensors";
  TraceParts trace = small_trace();
  std::string integers;
  for (int i = 0; i < 2 * 100 * 16; ++i) integers += static_cast<char>(i * 31 % 255 - 127);
  for (const char* role : {"key", "value"}) {
    const std::string name = std::string("layers.0.") + role;
    trace.tensors[name] = {"I8", {2, 100, 16}, integers};
    trace.tensors[name + "_scale"] = float_tensor({2, 16}, std::vector<float>(32, 0.03125F));
  }
  write_file(path, trace.bytes());
  const json report = run_json(trace_run(path));
  EXPECT_LT(report["baselines"]["dense"]["accuracy"]["relative_l2"], 0.05);
  trace.tensors["layers.0.value_scale"] = float_tensor({2, 16}, std::vector<float>(32, 0.03F));
  write_file(path, trace.bytes());
  expect_refused(run_program(trace_run(path)),
                 {"trace.safetensors", "layers.0.value_scale", "0.03", "powers of two"});
}

TEST(TraceInput, SyntheticTraceIsLabelled) {
  const TemporaryFolder folder;
  const std::string path = folder / "trace.safetensors";
  TraceParts trace = small_trace();
  trace.metadata["kind"] = "synthetic";
  write_file(path, trace.bytes());
  EXPECT_EQ(run_json(trace_run(path))["input"]["synthetic"], true);
}

TEST(TraceInput, ControlCharactersDoNotReachTheScreen) {
  const TemporaryFolder folder;
  const std::string path = folder / "trace.safetensors";
  TraceParts trace = small_trace();
  trace.metadata["model"] = "bad\x1b[2Jname";
  write_file(path, trace.bytes());
  const Outcome outcome = run_program(trace_run(path));
  EXPECT_EQ(outcome.out.find('\x1b'), std::string::npos);
  EXPECT_EQ(outcome.err.find('\x1b'), std::string::npos);
}

// The same numbers as floats in a trace and in .npy files give the same result.
TEST(ArrayInput, EqualsTheTrace) {
  const TemporaryFolder folder;
  const TraceParts trace = small_trace();
  write_file(folder / "trace.safetensors", trace.bytes());
  for (const char* role : {"query", "key", "value"}) {
    const FileTensor& tensor = trace.tensors.at(std::string("layers.0.") + role);
    write_file(folder / role, npy_bytes("<f4", tensor.shape, tensor.bytes));
  }
  const std::vector<std::string> arguments = {"run",          "--config",       "tiny-test",
                                              "--query",      folder / "query", "--key",
                                              folder / "key", "--value",        folder / "value"};
  json arrays = run_json(arguments);
  json expected = run_json(trace_run(folder / "trace.safetensors"));
  EXPECT_EQ(arrays["input"]["kind"], "arrays");
  EXPECT_TRUE(arrays["input"]["model"].is_null());
  for (json* each : {&arrays, &expected}) {
    each->erase("input");
    each->erase("provenance");
  }
  EXPECT_EQ(arrays, expected);
  std::vector<std::string> scaled = arguments;
  scaled.insert(scaled.end(), {"--scale", "0.5"});
  EXPECT_NE(run_json(scaled)["accuracy"], arrays["accuracy"]);
}

TEST(ArrayInput, ShapesMustFit) {
  const TemporaryFolder folder;
  const std::string data(96, '\0');  // 24 floats
  write_file(folder / "query", npy_bytes("<f4", {4, 6}, data));
  write_file(folder / "key", npy_bytes("<f4", {2, 3, 4}, data));
  const std::vector<std::string> arguments = {"run",          "--query", folder / "query", "--key",
                                              folder / "key", "--value", folder / "key"};
  expect_refused(run_program(arguments), {"6", "4"});
}

struct BadTrace {
  const char* name;
  std::function<void(TraceParts&)> change;
  std::vector<std::string> message_parts;
};

void PrintTo(const BadTrace& trace, std::ostream* out) {
  *out << trace.name;
}

class BadTraces : public testing::TestWithParam<BadTrace> {};

TEST_P(BadTraces, EndWithOneLine) {
  const TemporaryFolder folder;
  const std::string path = folder / "bad.safetensors";
  TraceParts trace = small_trace();
  GetParam().change(trace);
  write_file(path, trace.bytes());
  std::vector<std::string> parts = GetParam().message_parts;
  parts.emplace_back("bad.safetensors");
  expect_refused(run_program(trace_run(path)), parts);
}

void set_float(FileTensor& tensor, std::size_t index, float value) {
  tensor.bytes.replace(index * sizeof value, sizeof value, float_bytes({value}));
}

const BadTrace kBadTraces[] = {
    {"NotANumber",
     [](TraceParts& t) {
       set_float(t.tensors["layers.0.key"], 17, std::numeric_limits<float>::quiet_NaN());
     },
     {"layers.0.key", "NaN", "element 17"}},
    {"Infinity",
     [](TraceParts& t) {
       set_float(t.tensors["layers.0.value"], 5, -std::numeric_limits<float>::infinity());
     },
     {"layers.0.value", "-Inf", "element 5"}},
    {"KeyAndValueDiffer",
     [](TraceParts& t) {
       t.tensors["layers.0.value"] = float_tensor({2, 50, 16}, std::vector<float>(1600, 1.0F));
     },
     {"layers.0.value", "50"}},
    {"GroupDoesNotDivide", [](TraceParts& t) { t.metadata["kv_heads"] = "3"; }, {"kv_heads", "3"}},
    {"MissingTensor", [](TraceParts& t) { t.tensors.erase("layers.0.key"); }, {"layers.0.key"}},
    {"MissingMetadata",
     [](TraceParts& t) { t.metadata.erase("softmax_scale"); },
     {"softmax_scale"}},
    {"UnknownType",
     [](TraceParts& t) { t.tensors["layers.0.key"].dtype = "F64"; },
     {"layers.0.key"}},
    {"WrongSize",
     [](TraceParts& t) { t.tensors["layers.0.key"].bytes += "1234"; },
     {"layers.0.key"}},
    {"HugeShape",
     [](TraceParts& t) {
       t.tensors["layers.0.key"].shape = {2, 1ULL << 62U, 16};
     },
     {"layers.0.key"}},
};

INSTANTIATE_TEST_SUITE_P(Cli, BadTraces, testing::ValuesIn(kBadTraces),
                         [](const auto& test) { return std::string(test.param.name); });

TEST(BadFile, EveryTruncationEndsWithOneLine) {
  const TemporaryFolder folder;
  const std::string path = folder / "short.safetensors";
  const std::string whole = small_trace().bytes();
  for (const std::size_t length : {std::size_t{0}, std::size_t{7}, std::size_t{8}, std::size_t{100},
                                   whole.size() / 2, whole.size() - 1}) {
    write_file(path, whole.substr(0, length));
    expect_refused(run_program(trace_run(path)), {"short.safetensors"});
  }
}

TEST(BadFile, LyingHeaderLengthIsRefusedWithoutAllocation) {
  const TemporaryFolder folder;
  const std::string path = folder / "lie.safetensors";
  write_file(path, std::string(8, '\x7f') + "{}");
  expect_refused(run_program(trace_run(path)), {"lie.safetensors"});
}

TEST(BadFile, MissingFolderOrWrongKind) {
  const TemporaryFolder folder;
  expect_refused(run_program(trace_run(folder / "none.safetensors")), {"none.safetensors"});
  expect_refused(run_program(trace_run(folder / "")), {});
  expect_refused(run_program(trace_run(SANTA_SOURCE_DIR "/CMakeLists.txt")), {"CMakeLists.txt"});
}

TEST(BadFile, TraceIsNeverOverwritten) {
  const TemporaryFolder folder;
  const std::string path = folder / "trace.safetensors";
  const std::string bytes = small_trace().bytes();
  write_file(path, bytes);
  expect_refused(run_program(trace_run(path, {"--json", path})), {"--json", "--trace"});
  EXPECT_EQ(read_file(path), bytes);
}

TEST(ShippedTrace, RunsWithoutAnyOption) {
  const Outcome outcome = run_program({"run"});
  expect_success(outcome);
  EXPECT_NE(outcome.out.find("REAL: "), std::string::npos);
  EXPECT_NE(outcome.out.find("licence: "), std::string::npos);
  EXPECT_NE(outcome.out.find("of the model's own output"), std::string::npos);
}

}  // namespace
}  // namespace santa::test
