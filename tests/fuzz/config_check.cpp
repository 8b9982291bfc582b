#include "config_check.hpp"

#include <sstream>

#include "santa/config/hardware.hpp"
#include "santa/config/message_text.hpp"
#include "santa/config/model_shape.hpp"

namespace santa::config {
namespace {

const std::string& base_hardware_text() {
  static const std::string text =
      load_hardware(std::string(SANTA_SOURCE_DIR) + "/configs/hardware/tiny-test.yaml")
          .canonical_text();
  return text;
}

Node document_with_changes(const std::string& lines) {
  Node root = load_yaml_text(base_hardware_text(), "base");
  std::istringstream stream(lines);
  for (std::string line; std::getline(stream, line);) {
    const Override change = parse_override(line);
    root.set_override(change.key, change.value);
  }
  return root;
}

// `open` gives the document, `read` turns a document into a configuration.
template <typename Open, typename Read>
void check(Open open, Read read, CheckResult& result) {
  try {
    const std::string text = read(open()).canonical_text();
    ++result.accepted;
    const std::string again = read(load_yaml_text(text, "canonical")).canonical_text();
    if (again != text) {
      result.violation = "the canonical text reads back to another:\n" + text + "\n" + again;
    }
  } catch (const InputError& error) {
    const std::string message = error.what();
    if (!is_plain_text(message) || message.empty()) {
      result.violation = "not one plain line: " + escaped(message);
    }
    if (message.rfind("canonical", 0) == 0) {
      result.violation = "the canonical text is refused: " + message;
    }
  }
}

}  // namespace

CheckResult check_config_input(const std::string& text) {
  CheckResult result;
  const auto open = [&] { return load_yaml_text(text, "input"); };
  check(open, read_hardware, result);
  check(open, read_model_shape, result);
  check([&] { return document_with_changes(text); }, read_hardware, result);
  return result;
}

}  // namespace santa::config
