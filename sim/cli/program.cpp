#include "program.hpp"

#include <csignal>
#include <cstdio>
#include <exception>
#include <new>
#include <string>

#include "cosim_command.hpp"
#include "describe_command.hpp"
#include "model_command.hpp"
#include "options.hpp"
#include "output_file.hpp"
#include "run_command.hpp"
#include "santa/config/message_text.hpp"
#include "santa/energy/report.hpp"
#include "santa/error.hpp"
#include "vectors_command.hpp"

namespace santa::cli {
namespace {

void execute(int argc, const char* const* argv) {
  const CommandLine command = parse_command_line(argc, argv);
  if (command.text) write_standard_output(*command.text);
  if (command.describe) write_standard_output(describe(*command.describe));
  if (command.run) run(*command.run);
  if (command.model) run_model(*command.model);
  if (command.cosim) cosimulate(*command.cosim);
  if (command.vectors) handle_vectors(*command.vectors);
}

// One line, whatever is in the message.
int report(int exit_code, const char* before, const char* message) {
  std::string line = message;
  while (!line.empty() && line.back() == '\n') line.pop_back();
  for (char& c : line) {
    if (static_cast<unsigned char>(c) < ' ') c = ' ';
  }
  std::fprintf(stderr, "santasim: %s%s\n", before, line.c_str());
  return exit_code;
}

}  // namespace

int run_program(int argc, const char* const* argv) noexcept {
  constexpr const char* kFault = "internal error, please report it with the command: ";
  try {
    reserve_standard_streams();
    // A reader that goes away is an error code of write(), not the end of the program.
    static_cast<void>(std::signal(SIGPIPE, SIG_IGN));
    execute(argc, argv);
    return kExitSuccess;
  } catch (const InputError& error) {
    return report(kExitBadInput, "", error.what());
  } catch (const energy::VerificationError& error) {
    return report(kExitVerificationFailed, "", error.what());
  } catch (const std::bad_alloc&) {
    std::fputs(
        "santasim: not enough memory for this input; allowed: fewer --layers, a shorter "
        "--context\n",
        stderr);
    return kExitBadInput;
  } catch (const std::exception& error) {
    return report(kExitInternalError, kFault, error.what());
  } catch (...) {
    return report(kExitInternalError, kFault, "unknown exception");
  }
}

}  // namespace santa::cli
