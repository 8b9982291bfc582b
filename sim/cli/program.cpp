#include "program.hpp"

#include <csignal>
#include <cstdio>

#include "analysis/compare.hpp"
#include "analysis/explain.hpp"
#include "bench_command.hpp"
#include "cosim_command.hpp"
#include "describe_command.hpp"
#include "failure.hpp"
#include "model_command.hpp"
#include "options.hpp"
#include "output_file.hpp"
#include "paper/command.hpp"
#include "report/report.hpp"
#include "run_command.hpp"
#include "santa/error.hpp"
#include "sweep/command.hpp"
#include "vectors_command.hpp"

namespace santa::cli {
namespace {

int execute(int argc, const char* const* argv) {
  const CommandLine command = parse_command_line(argc, argv);
  if (command.text) write_standard_output(*command.text);
  if (command.describe) write_standard_output(describe(*command.describe));
  if (command.run) run(*command.run);
  if (command.model) run_model(*command.model);
  if (command.cosim) cosimulate(*command.cosim);
  if (command.vectors) handle_vectors(*command.vectors);
  if (command.bench) bench(*command.bench);
  if (command.compare) compare(*command.compare);
  if (command.report) report(*command.report);
  if (command.explain) explain(*command.explain);
  if (command.paper) regenerate_paper(*command.paper);
  if (command.sweep) return sweep(*command.sweep);
  return kExitSuccess;
}

}  // namespace

int run_program(int argc, const char* const* argv) noexcept {
  try {
    reserve_standard_streams();
    // A reader that goes away is an error code of write(), not the end of the program.
    static_cast<void>(std::signal(SIGPIPE, SIG_IGN));
    // So is a limit on the size of files.
    static_cast<void>(std::signal(SIGXFSZ, SIG_IGN));
    return execute(argc, argv);
  } catch (...) {
    try {
      const Failure failure = current_failure();
      std::fprintf(stderr, "santasim: %s\n", failure.message.c_str());
      return failure.exit_code;
    } catch (...) {
      std::fputs("santasim: not enough memory\n", stderr);
      return kExitBadInput;
    }
  }
}

}  // namespace santa::cli
