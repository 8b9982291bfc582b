// Result files: either complete under their name, or not there at all.
#pragma once

#include <csignal>
#include <string>
#include <string_view>
#include <vector>

namespace santa::cli {

// Holds back the signals that end a program politely (Ctrl-C, kill, a closed terminal) while a
// temporary file has a name, so that none is left behind. They take effect on release.
class SignalHold {
 public:
  SignalHold() = default;
  ~SignalHold() { release(); }
  SignalHold(const SignalHold&) = delete;
  SignalHold& operator=(const SignalHold&) = delete;
  void hold();
  void release();

 private:
  sigset_t before_{};
  bool held_ = false;
};

// A file that appears when it is complete. The bytes go to a temporary file in the same folder,
// which commit() flushes to the disk and renames; without commit() nothing is left and an older
// file of that name stays as it was. A symbolic link is followed; a device or pipe is written
// directly. Every failure throws InputError that names the option and the file.
class OutputFile {
 public:
  // Looks whether `path` can be written, so that a bad path is found before the work, and leaves
  // nothing behind. `option` is named in errors.
  static void check(const std::string& option, const std::string& path);

  OutputFile(std::string option, const std::string& path);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  void write(std::string_view text);
  void commit();

 private:
  void flush();
  void discard() noexcept;
  [[noreturn]] void fail(int error) const;

  std::string option_;
  std::string shown_path_;  // as given, for messages
  std::string path_;        // with symbolic links resolved
  std::string temporary_;   // empty when writing directly or without a name
  SignalHold signals_;
  int descriptor_ = -1;
  bool direct_ = false;
  std::string buffer_;
};

// A path with what names it on the command line.
struct NamedPath {
  std::string option;
  std::string path;
};

// Throws InputError if an output is the same regular file as an input or as another output, by
// whatever name.
void require_distinct(const std::vector<NamedPath>& inputs, const std::vector<NamedPath>& outputs);

// Writes `text` to standard output and flushes it. Quiet when the reader of a pipe has gone away;
// throws InputError for any other failure, such as a full disk.
void write_standard_output(std::string_view text);

// Opens /dev/null in place of standard streams that are closed, so that no result file takes their
// numbers. Writing to a closed standard output still fails.
void reserve_standard_streams();

}  // namespace santa::cli
