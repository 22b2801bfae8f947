#include "service/image_build.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "service/image_program.h"
#include "service/image_tar.h"
#include "throttletest/base/error.h"

namespace throttletest::internal {
namespace {

// Without a name, or unlinked at once where the file system cannot make such a file: nothing is
// left whatever happens.
UniqueFd TemporaryFile() {
  std::error_code ec;
  std::string folder = std::filesystem::temp_directory_path(ec).string();
  if (ec) folder = "/tmp";
  UniqueFd nameless(::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  if (nameless.valid()) return nameless;
  std::string name = folder + "/throttletest-image-XXXXXX";
  UniqueFd file(::mkostemp(name.data(), O_CLOEXEC));
  if (!file.valid()) {
    throw Error(ErrorCode::kServiceStart, fmt::format("cannot make a temporary file in {}: {}",
                                                      folder, std::strerror(errno)));
  }
  ::unlink(name.c_str());
  return file;
}

}  // namespace

UniqueFd BuildProgramArchive(const std::string& program,
                             const std::map<std::string, std::string>& env,
                             const std::vector<std::string>& more_files) {
  const std::vector<ImageFile> files = ProgramFiles(program, env, more_files);
  UniqueFd archive = TemporaryFile();
  TarWriter tar(archive.get());
  tar.AddFolder("/tmp", 01777);
  tar.AddText("/etc/passwd",
              "root:x:0:0:root:/:/bin/false\nnobody:x:65534:65534:nobody:/:/bin/false\n", 0644);
  tar.AddText("/etc/group", "root:x:0:\nnogroup:x:65534:\n", 0644);
  tar.AddText("/etc/nsswitch.conf", "passwd: files\ngroup: files\nhosts: files dns\n", 0644);
  for (const ImageFile& file : files) {
    if (file.source.empty()) {
      tar.AddLink(file.path, file.target);
    } else {
      tar.AddFileFrom(file.path, file.source, 0755);
    }
  }
  tar.Finish();
  if (::lseek(archive.get(), 0, SEEK_SET) != 0) {
    throw Error(ErrorCode::kServiceStart, "cannot rewind the archive of the container image");
  }
  return archive;
}

}  // namespace throttletest::internal
