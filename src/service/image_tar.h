// TarWriter: writes a tar archive (ustar with GNU long names) to a file descriptor.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>

namespace throttletest::internal {

// Members are given by absolute path; missing parent folders are added (0755). Owner is root and
// the time is zero, so that the same files always make the same archive. Errors: kServiceStart.
class TarWriter {
 public:
  explicit TarWriter(int fd) : fd_(fd) {}

  void AddFolder(const std::string& path, unsigned mode);
  void AddText(const std::string& path, std::string_view text, unsigned mode);
  // The content of the host's file `source`. Errors: also when it shrinks while it is read.
  void AddFileFrom(const std::string& path, const std::string& source, unsigned mode);
  void AddLink(const std::string& path, const std::string& target);
  // The end marker. No calls after it.
  void Finish();

 private:
  void AddParents(const std::string& path);
  void Header(const std::string& name, char type, std::uint64_t size, unsigned mode,
              const std::string& target);
  void LongName(char type, const std::string& name);
  void Write(const char* data, std::size_t size);
  void Pad(std::uint64_t size);

  int fd_;
  std::set<std::string> folders_;
};

}  // namespace throttletest::internal
