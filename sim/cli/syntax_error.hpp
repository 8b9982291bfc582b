// What the command-line parser refuses, in the words of this program.
#pragma once

#include "santa/error.hpp"

namespace CLI {
class App;
class ParseError;
}  // namespace CLI

namespace santa::cli {

// One line that names the option, what was given and what is allowed.
InputError syntax_error(const CLI::App& app, const CLI::ParseError& error);

}  // namespace santa::cli
