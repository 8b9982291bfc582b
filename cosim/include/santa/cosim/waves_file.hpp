// Waveform file of a scenario: complete under its name, or not there at all.
#pragma once

#include <string>

namespace santa::cosim {

// The writer of waveforms (Verilator's FST library) reports no failed write and maps files into
// memory, so that a full disk ends the program by SIGBUS. It therefore writes to a hidden file in
// the same folder; commit() looks whether all of it has arrived and gives it its name. While an
// object exists, SIGBUS ends the program with exit code 2 and one message, and whoever ends it by
// SIGINT, SIGTERM or SIGHUP finds no partial file. One object at a time.
class WavesFile {
 public:
  // Throws InputError that names `option` and `path` where no such file can be made.
  WavesFile(std::string option, std::string path);
  ~WavesFile();
  WavesFile(const WavesFile&) = delete;
  WavesFile& operator=(const WavesFile&) = delete;

  // What the writer is to open.
  const std::string& partial() const { return partial_; }

  // After the writer has closed it. Throws InputError where it is not whole.
  void commit();

 private:
  [[noreturn]] void fail(const std::string& reason) const;

  std::string option_;
  std::string path_;
  std::string partial_;
};

// Whether the file is a chain of FST blocks that ends where the file ends, after a first block with
// a time of the last change.
bool is_whole_fst(const std::string& path);

}  // namespace santa::cosim
