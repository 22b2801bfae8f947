#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "base/unique_fd.h"
#include "throttletest/base/error.h"
#include "throttletest/report/json.h"

namespace throttletest {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void Refuse(const std::string& path, const std::string& why) {
  throw Error(ErrorCode::kInvalidArgument, fmt::format("cannot write \"{}\": {}", path, why));
}

[[noreturn]] void RefuseErrno(const std::string& path, const std::string& step) {
  Refuse(path, fmt::format("{}: {}", step, std::strerror(errno)));
}

fs::path DirectoryOf(const fs::path& file) {
  return file.has_parent_path() ? file.parent_path() : fs::path(".");
}

// The file a symbolic link stands for, so that the link survives the rename. It need not exist.
fs::path Target(const std::string& path) {
  constexpr int kMostLinks = 40;  // as the kernel
  fs::path target = path;
  for (int links = 0;; ++links) {
    std::error_code ec;
    if (!fs::is_symlink(target, ec)) return target;
    if (links == kMostLinks) Refuse(path, "it is a symbolic link that leads back to itself");
    const fs::path next = fs::read_symlink(target, ec);
    if (ec) return target;
    target = next.is_absolute() ? next : DirectoryOf(target) / next;
  }
}

// A device or pipe such as /dev/stdout is written to, never replaced by a file.
bool IsSpecial(const fs::path& path) {
  std::error_code ec;
  const fs::file_status status = fs::status(path, ec);
  return !ec && fs::exists(status) && !fs::is_regular_file(status) && !fs::is_directory(status);
}

void WriteAll(int fd, const std::string& text, const std::string& path) {
  std::size_t done = 0;
  while (done < text.size()) {
    const ssize_t n = ::write(fd, text.data() + done, text.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) RefuseErrno(path, "write");
    done += static_cast<std::size_t>(n);
  }
}

void WriteSpecial(const fs::path& path, const std::string& text) {
  // Without waiting for a reader of a pipe, who may never come.
  const internal::UniqueFd fd(::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd.valid() && errno == ENXIO) Refuse(path, "nobody reads this pipe");
  if (!fd.valid()) RefuseErrno(path, "open");
  ::fcntl(fd.get(), F_SETFL, ::fcntl(fd.get(), F_GETFL) & ~O_NONBLOCK);
  WriteAll(fd.get(), text, path);
}

// Removes the temporary file unless it was renamed.
class Temporary {
 public:
  explicit Temporary(const fs::path& beside) : name_(beside.string() + ".XXXXXX") {
    fd_.Reset(::mkostemp(name_.data(), O_CLOEXEC));
    if (!fd_.valid()) RefuseErrno(beside, "temporary file in the same directory");
  }
  Temporary(const Temporary&) = delete;
  Temporary& operator=(const Temporary&) = delete;
  ~Temporary() {
    if (!name_.empty()) ::unlink(name_.c_str());
  }
  int fd() const { return fd_.get(); }
  void RenameTo(const fs::path& path) {
    if (::rename(name_.c_str(), path.c_str()) != 0) RefuseErrno(path, "rename");
    name_.clear();
  }

 private:
  std::string name_;
  internal::UniqueFd fd_;
};

// mkostemp makes files that only the owner may read; a report is for everybody the umask allows.
mode_t ModeFor(const fs::path& path) {
  struct stat existing {};
  if (::stat(path.c_str(), &existing) == 0) return existing.st_mode & 0777;
  const mode_t mask = ::umask(0);
  ::umask(mask);
  return 0666 & ~mask;
}

}  // namespace

void WriteFile(const std::string& path, const std::string& text) {
  CheckWritable(path);
  const fs::path target = Target(path);
  if (IsSpecial(target)) {
    WriteSpecial(target, text);
    return;
  }
  Temporary temporary(target);
  WriteAll(temporary.fd(), text, path);
  if (::fchmod(temporary.fd(), ModeFor(target)) != 0) RefuseErrno(path, "chmod");
  temporary.RenameTo(target);
}

void CheckWritable(const std::string& path) {
  if (path.empty()) Refuse(path, "the path is empty");
  const fs::path target = Target(path);
  std::error_code ec;
  if (fs::is_directory(target, ec)) Refuse(path, "it is a directory; name a file in it");
  if (path.ends_with('/')) Refuse(path, "it names a directory; name a file in it");
  if (fs::exists(target, ec)) {
    if (::access(target.c_str(), W_OK) != 0) RefuseErrno(path, "the file cannot be replaced");
    if (IsSpecial(target)) return;
  }
  const fs::path directory = DirectoryOf(target);
  if (!fs::exists(directory, ec)) {
    Refuse(path, fmt::format("directory \"{}\" does not exist", directory.string()));
  }
  if (!fs::is_directory(directory, ec)) {
    Refuse(path, fmt::format("\"{}\" is not a directory", directory.string()));
  }
  if (::access(directory.c_str(), W_OK | X_OK) != 0) {
    RefuseErrno(path, fmt::format("directory \"{}\"", directory.string()));
  }
}

}  // namespace throttletest
