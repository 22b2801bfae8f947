#include "service/image_tar.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <vector>

#include "base/unique_fd.h"
#include "throttletest/base/error.h"

namespace throttletest::internal {
namespace {

constexpr std::size_t kBlock = 512;

// Positions and sizes of the fields used. Source: POSIX pax, "ustar Interchange Format".
struct Field {
  std::size_t offset;
  std::size_t size;
};
constexpr Field kName{0, 100};
constexpr Field kMode{100, 8};
constexpr Field kUid{108, 8};
constexpr Field kGid{116, 8};
constexpr Field kSize{124, 12};
constexpr Field kTime{136, 12};
constexpr Field kChecksum{148, 8};
constexpr std::size_t kType = 156;
constexpr Field kLink{157, 100};
constexpr Field kMagic{257, 8};
constexpr std::uint64_t kLargest = (std::uint64_t{1} << 33) - 1;  // 11 octal digits

using Block = std::array<char, kBlock>;

void Put(Block& block, Field field, std::string_view text) {
  std::copy_n(text.data(), std::min(text.size(), field.size), block.begin() + field.offset);
}

void PutOctal(Block& block, Field field, std::uint64_t value) {
  Put(block, field, fmt::format("{:0{}o}", value, field.size - 1));
}

[[noreturn]] void Fail(const std::string& path, const std::string& why) {
  throw Error(ErrorCode::kServiceStart,
              fmt::format("cannot put \"{}\" into the container image: {}", path, why));
}

// Names in an archive have no leading '/'.
std::string MemberName(const std::string& path) {
  return path.substr(std::min(path.find_first_not_of('/'), path.size()));
}

}  // namespace

void TarWriter::Write(const char* data, std::size_t size) {
  while (size > 0) {
    const ssize_t n = ::write(fd_, data, size);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) {
      throw Error(ErrorCode::kServiceStart,
                  fmt::format("cannot write the container image: {}", std::strerror(errno)));
    }
    data += n;
    size -= static_cast<std::size_t>(n);
  }
}

void TarWriter::Pad(std::uint64_t size) {
  static constexpr Block kZeros{};
  const auto rest = static_cast<std::size_t>(size % kBlock);
  if (rest != 0) Write(kZeros.data(), kBlock - rest);
}

void TarWriter::LongName(char type, const std::string& name) {
  Header("././@LongLink", type, name.size() + 1, 0, "");
  Write(name.c_str(), name.size() + 1);
  Pad(name.size() + 1);
}

void TarWriter::Header(const std::string& name, char type, std::uint64_t size, unsigned mode,
                       const std::string& target) {
  if (size > kLargest) Fail(name, "it is larger than 8 GiB");
  if (target.size() > kLink.size) LongName('K', target);
  if (name.size() > kName.size) LongName('L', name);
  Block block{};
  Put(block, kName, name);
  PutOctal(block, kMode, mode & 07777U);
  PutOctal(block, kUid, 0);
  PutOctal(block, kGid, 0);
  PutOctal(block, kSize, size);
  PutOctal(block, kTime, 0);
  Put(block, kChecksum, "        ");
  block[kType] = type;
  Put(block, kLink, target);
  Put(block, kMagic, std::string_view("ustar  \0", 8));
  unsigned sum = 0;
  for (const char c : block) sum += static_cast<unsigned char>(c);
  Put(block, kChecksum, fmt::format("{:06o}", sum) + std::string("\0 ", 2));
  Write(block.data(), block.size());
}

void TarWriter::AddParents(const std::string& path) {
  const std::string parent = std::filesystem::path(path).parent_path().string();
  if (parent.empty() || parent == "/" || folders_.count(parent) != 0) return;
  AddFolder(parent, 0755);
}

void TarWriter::AddFolder(const std::string& path, unsigned mode) {
  if (!folders_.insert(path).second) return;
  AddParents(path);
  Header(MemberName(path) + "/", '5', 0, mode, "");
}

void TarWriter::AddText(const std::string& path, std::string_view text, unsigned mode) {
  AddParents(path);
  Header(MemberName(path), '0', text.size(), mode, "");
  Write(text.data(), text.size());
  Pad(text.size());
}

void TarWriter::AddLink(const std::string& path, const std::string& target) {
  AddParents(path);
  Header(MemberName(path), '2', 0, 0777, target);
}

void TarWriter::AddFileFrom(const std::string& path, const std::string& source, unsigned mode) {
  const UniqueFd file(::open(source.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat info {};
  if (!file.valid() || ::fstat(file.get(), &info) != 0) Fail(source, std::strerror(errno));
  if (!S_ISREG(info.st_mode)) Fail(source, "it is not a regular file");
  AddParents(path);
  const auto size = static_cast<std::uint64_t>(info.st_size);
  Header(MemberName(path), '0', size, mode, "");
  std::vector<char> buffer(std::size_t{1} << 18);
  std::uint64_t left = size;
  while (left > 0) {
    const auto chunk = static_cast<std::size_t>(std::min<std::uint64_t>(left, buffer.size()));
    const ssize_t n = ::read(file.get(), buffer.data(), chunk);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) Fail(source, std::strerror(errno));
    if (n == 0) Fail(source, "it became shorter while it was read");
    Write(buffer.data(), static_cast<std::size_t>(n));
    left -= static_cast<std::uint64_t>(n);
  }
  Pad(size);
}

void TarWriter::Finish() {
  const std::array<char, 2 * kBlock> end{};
  Write(end.data(), end.size());
}

}  // namespace throttletest::internal
