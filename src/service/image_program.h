// What a program needs to run in an otherwise empty container: itself, its dynamic loader and the
// shared libraries that the loader would load.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace throttletest::internal {

// The dynamic loader an ELF program asks for. Absent: a static program.
// Errors: kServiceStart when the file is a script ("#!"), not an ELF file, or cut short; says that
// `image` is the way out. Source: ELF program header PT_INTERP.
std::optional<std::string> ElfInterpreter(const std::string& path);

// The library paths in what "LOADER --list PROGRAM" prints ("name => /path (0x...)"), in its order.
// Errors: kServiceStart naming every library that is "not found".
std::vector<std::string> ParseLoaderList(std::string_view text, const std::string& program);

// One file of an image.
struct ImageFile {
  std::string path;    // absolute, inside the image
  std::string source;  // the host's file. Absent: empty, a symbolic link
  std::string target;  // of a symbolic link, absolute
  friend bool operator==(const ImageFile&, const ImageFile&) = default;
};

// The program and everything it loads at start-up, each under its path on the host; a path that
// leads through symbolic links on the host becomes one link to the real file. Libraries that are
// opened later (dlopen) are not known to the loader and not included.
//
// `files` are further files and folders, with all that is in the folders. Of programs and libraries
// among them, what their loader finds is included; what it does not find is taken to be loaded by
// somebody else before them. Links that lead nowhere are left out.
//
// `env` is the service's own environment (LD_LIBRARY_PATH in it is followed).
// Errors: kServiceStart.
std::vector<ImageFile> ProgramFiles(const std::string& program,
                                    const std::map<std::string, std::string>& env,
                                    const std::vector<std::string>& files = {});

}  // namespace throttletest::internal
