// santa_rtl_config: checks that a hardware description can be built in SystemVerilog and writes the
// module that fixes its parameters.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <fstream>
#include <string>
#include <vector>

#include "santa/config/hardware.hpp"
#include "santa/config/preset.hpp"
#include "santa/error.hpp"
#include "santa/rtl/parameters.hpp"
#include "santa/rtl/wrapper.hpp"

namespace santa::rtl {
namespace {

struct Options {
  std::string config;
  std::string wrapper;
  std::string top = "attention_unit_top";
  std::vector<std::string> set;
  bool without_monitors = false;
};

void write_file(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << text;
  file.close();
  if (!file) throw input_error("--wrapper", "", "cannot write " + path, "a file in a folder");
}

void run(const Options& options) {
  std::vector<config::Override> overrides;
  for (const std::string& assignment : options.set) {
    overrides.push_back(config::parse_override(assignment));
  }
  check_module_name(options.top);
  const config::HardwareConfig hardware = config::load_hardware(options.config, overrides);
  check_unit(hardware, config::find_config("hardware", options.config));
  if (options.wrapper.empty()) {
    for (const Parameter& parameter : parameters_of(hardware)) {
      fmt::print("{} {}\n", parameter.name, parameter.value);
    }
    fmt::print("ConfigHash {}\n", hardware.unit_hash());
    return;
  }
  write_file(options.wrapper,
             wrapper_text(hardware, options.top,
                          options.without_monitors ? Monitors::kWithout : Monitors::kWith));
}

int report(int code, const char* message) {
  std::fprintf(stderr, "santa_rtl_config: %s\n", message);
  return code;
}

int run_program(int argc, const char* const* argv) {
  Options options;
  CLI::App app("Parameters of the unit in SystemVerilog from a hardware description",
               "santa_rtl_config");
  app.add_option("CONFIG", options.config, "Hardware: preset or file")->required();
  app.add_option("--wrapper", options.wrapper,
                 "Module to write; without it, the parameters are listed")
      ->type_name("OUT.sv");
  app.add_option("--top", options.top, "Name of the module (attention_unit_top)")
      ->type_name("NAME");
  app.add_option("--set", options.set, "Change a key of the hardware; may be repeated")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  app.add_flag("--without-monitors", options.without_monitors,
               "Around attention_unit itself, for synthesis");
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& help) {
    return app.exit(help);
  } catch (const CLI::ParseError& error) {
    return report(kExitBadInput, error.what());
  }
  run(options);
  return kExitSuccess;
}

}  // namespace
}  // namespace santa::rtl

int main(int argc, char** argv) {
  try {
    return santa::rtl::run_program(argc, argv);
  } catch (const santa::InputError& error) {
    return santa::rtl::report(santa::kExitBadInput, error.what());
  } catch (const std::exception& error) {
    return santa::rtl::report(santa::kExitInternalError, error.what());
  }
}
