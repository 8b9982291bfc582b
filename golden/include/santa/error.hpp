// Errors that reach the user. The command line turns InputError into exit code 2 and one line.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

namespace santa {

// A bad input: a file, a configuration key, an option or a tensor. `what()` is the one message the
// user sees; it names the place (file, line where known), the key, the value found and what is
// allowed. Build it with input_error() so that every message has the same shape.
class InputError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// One message: "<place>: <key>: <found>; allowed: <allowed>". Empty parts are left out.
//   place    file, "file:line" or the option, for example "configs/edge.yaml:12" or "--samples"
//   key      the key, tensor or field inside it, for example "unit.tile_keys"
//   found    what was found, for example "got 48"
//   allowed  what would be accepted, for example "a power of two from 16 to 1024"
inline InputError input_error(const std::string& place, const std::string& key,
                              const std::string& found, const std::string& allowed) {
  std::string message = place;
  if (!key.empty()) message += (message.empty() ? "" : ": ") + key;
  if (!found.empty()) message += (message.empty() ? "" : ": ") + found;
  if (!allowed.empty()) message += "; allowed: " + allowed;
  return InputError(message);
}

// Exit codes of every program of the project.
enum ExitCode : int {
  kExitSuccess = 0,
  kExitVerificationFailed = 1,  // a comparison or a check of the results failed
  kExitBadInput = 2,            // bad option, file or configuration; nothing was computed
  kExitInternalError = 3,       // a fault of the program itself: please report it
};

}  // namespace santa
