// Writes the C++ source that builds one verilated unit into the program.
//
//   santa_cosim_model_source CONFIG CLASS OUTPUT [KEY=VALUE ...]
//
// CONFIG is a hardware description, CLASS the name that Verilator gave the model, KEY=VALUE changes
// of the description. Exit codes as in santa/error.hpp.
#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <fstream>
#include <string>
#include <vector>

#include "santa/config/hardware.hpp"
#include "santa/cosim/unit_parameters.hpp"
#include "santa/error.hpp"

namespace {

std::string source_of(const santa::config::HardwareConfig& hardware, const std::string& type) {
  const santa::cosim::UnitParameters u = santa::cosim::parameters_of(hardware);
  return fmt::format(
      "// {0}, verilated. Written by santa_cosim_model_source.\n"
      "#include \"{1}.h\"\n"
      "#include \"verilated_unit.hpp\"\n\n"
      "namespace santa::cosim {{\n\n"
      "BuiltModel built_{1}() {{\n"
      "  const UnitParameters parameters{{{2}, {3}, {4}, {5}, {6}, {7}, {8}, {9}, {10}, {11}, "
      "{12}, "
      "{13}, {14}, 0x{15:016x}ULL}};\n"
      "  return {{\"{0}\", parameters, [parameters](const ModelOptions& options) {{\n"
      "            return std::make_unique<VerilatedUnit<{1}>>(parameters, options);\n"
      "          }}}};\n"
      "}}\n\n"
      "}}  // namespace santa::cosim\n",
      hardware.name, type, u.port_bytes, u.tile_keys, u.group_heads, u.max_head_dimension,
      u.key_lanes, u.digit_lanes, u.weight_lanes, u.scan_lanes, u.value_lanes, u.normalizer_lanes,
      u.key_buffer_tiles, u.row_buffer_rows, u.stash_kib, u.config_hash);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc < 4) {
      throw santa::input_error("santa_cosim_model_source", "", "",
                               "CONFIG CLASS OUTPUT [KEY=VALUE ...]");
    }
    std::vector<santa::config::Override> changes;
    for (int i = 4; i < argc; ++i) changes.push_back(santa::config::parse_override(argv[i]));
    const std::string text = source_of(santa::config::load_hardware(argv[1], changes), argv[2]);
    std::ofstream file(argv[3], std::ios::binary);
    file << text;
    file.flush();
    if (!file) throw santa::input_error(argv[3], "", "cannot be written", "a file");
    return santa::kExitSuccess;
  } catch (const santa::InputError& error) {
    std::fprintf(stderr, "santa_cosim_model_source: %s\n", error.what());
    return santa::kExitBadInput;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "santa_cosim_model_source: internal error: %s\n", error.what());
    return santa::kExitInternalError;
  }
}
