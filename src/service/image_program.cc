#include "service/image_program.h"

#include <elf.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>

#include "base/text.h"
#include "service/subprocess.h"
#include "throttletest/base/error.h"

namespace throttletest::internal {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void Refuse(const std::string& path, const std::string& why) {
  throw Error(ErrorCode::kServiceStart,
              fmt::format("cannot make a container image from \"{}\": {}; set `image` to one that "
                          "has the program, or use the cgroup launcher",
                          path, why));
}

template <typename T>
T ReadAt(std::ifstream& file, std::uint64_t offset, const std::string& path) {
  T value{};
  file.seekg(static_cast<std::streamoff>(offset));
  if (!file.read(reinterpret_cast<char*>(&value), sizeof value)) {
    Refuse(path, "its ELF headers are cut short");
  }
  return value;
}

template <typename Header, typename Segment>
std::optional<std::string> Interpreter(std::ifstream& file, const std::string& path) {
  const auto header = ReadAt<Header>(file, 0, path);
  for (unsigned i = 0; i < header.e_phnum; ++i) {
    const auto segment =
        ReadAt<Segment>(file, header.e_phoff + std::uint64_t{i} * header.e_phentsize, path);
    if (segment.p_type != PT_INTERP) continue;
    constexpr std::uint64_t kLongestPath = 4096;
    if (segment.p_filesz < 2 || segment.p_filesz > kLongestPath) {
      Refuse(path, "its ELF headers name no usable dynamic loader");
    }
    std::string name(static_cast<std::size_t>(segment.p_filesz) - 1, '\0');
    file.seekg(static_cast<std::streamoff>(segment.p_offset));
    if (!file.read(name.data(), static_cast<std::streamsize>(name.size()))) {
      Refuse(path, "its ELF headers are cut short");
    }
    return name;
  }
  return std::nullopt;
}

// The files of an image while they are gathered, each once.
struct Gathered {
  std::vector<ImageFile> files;
  std::set<std::string> seen;
};

// Adds `path`, following the host's links: the real file and, where they differ, a link to it.
void AddFile(const std::string& path, Gathered& gathered) {
  const std::string wanted = fs::path(path).lexically_normal().string();
  std::error_code ec;
  const std::string real = fs::canonical(path, ec).string();
  if (ec) Refuse(path, ec.message());
  if (gathered.seen.insert(real).second) {
    gathered.files.push_back({.path = real, .source = real, .target = ""});
  }
  if (wanted != real && gathered.seen.insert(wanted).second) {
    gathered.files.push_back({.path = wanted, .source = "", .target = real});
  }
}

bool IsElf(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::array<char, SELFMAG> magic{};
  file.read(magic.data(), magic.size());
  return file.gcount() == SELFMAG && std::memcmp(magic.data(), ELFMAG, SELFMAG) == 0;
}

// A file, or all files below a folder. Adds the real path of each to `added`.
void AddTree(const std::string& path, Gathered& gathered, std::vector<std::string>& added) {
  std::error_code ec;
  const fs::path real = fs::canonical(path, ec);
  if (ec) Refuse(path, ec.message());
  if (fs::is_regular_file(real)) {
    AddFile(path, gathered);
    added.push_back(real.string());
    return;
  }
  // The host's links between folders may go round in circles. A folder that is reached by a link is
  // itself in the image, with a link to it.
  const bool is_new = gathered.seen.insert(real.string()).second;
  const std::string wanted = fs::path(path).lexically_normal().string();
  if (wanted != real && gathered.seen.insert(wanted).second) {
    gathered.files.push_back({.path = wanted, .source = "", .target = real.string()});
  }
  if (!is_new || !fs::is_directory(real)) return;
  std::vector<std::string> names;
  for (const fs::directory_entry& entry : fs::directory_iterator(real)) {
    if (fs::exists(entry.path(), ec)) names.push_back(entry.path().string());
  }
  std::sort(names.begin(), names.end());  // the same files make the same archive
  for (const std::string& name : names) AddTree(name, gathered, added);
}

}  // namespace

std::optional<std::string> ElfInterpreter(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) Refuse(path, "it cannot be read");
  std::array<char, EI_NIDENT> ident{};
  file.read(ident.data(), ident.size());
  const auto size = file.gcount();
  if (size >= 2 && ident[0] == '#' && ident[1] == '!') {
    Refuse(path, "it is a script (#!), whose interpreter and modules cannot be found out");
  }
  if (size < EI_NIDENT || std::memcmp(ident.data(), ELFMAG, SELFMAG) != 0) {
    Refuse(path, "it is not an ELF program");
  }
  file.clear();
  if (ident[EI_CLASS] == ELFCLASS64) return Interpreter<Elf64_Ehdr, Elf64_Phdr>(file, path);
  if (ident[EI_CLASS] == ELFCLASS32) return Interpreter<Elf32_Ehdr, Elf32_Phdr>(file, path);
  Refuse(path, "it is neither a 32-bit nor a 64-bit ELF program");
}

namespace {

struct LoaderList {
  std::vector<std::string> paths;
  std::vector<std::string> missing;
};

LoaderList ReadLoaderList(std::string_view text) {
  LoaderList list;
  while (!text.empty()) {
    const auto end = text.find('\n');
    std::string_view line = Trim(text.substr(0, end));
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
    std::string_view name;
    if (const auto arrow = line.find(" => "); arrow != std::string_view::npos) {
      name = line.substr(0, arrow);
      line = Trim(line.substr(arrow + 4));
    }
    if (line == "not found") {
      list.missing.emplace_back(name);
      continue;
    }
    // The address is last; a path may itself contain blanks and parentheses.
    if (const auto address = line.rfind(" (0x"); address != std::string_view::npos) {
      line = line.substr(0, address);
    }
    if (!line.empty() && line.front() == '/') list.paths.emplace_back(line);
  }
  return list;
}

}  // namespace

std::vector<std::string> ParseLoaderList(std::string_view text, const std::string& program) {
  LoaderList list = ReadLoaderList(text);
  if (!list.missing.empty()) {
    Refuse(program, fmt::format("the loader does not find {}", fmt::join(list.missing, ", ")));
  }
  return list.paths;
}

std::vector<ImageFile> ProgramFiles(const std::string& program,
                                    const std::map<std::string, std::string>& env,
                                    const std::vector<std::string>& files) {
  Gathered gathered;
  AddFile(program, gathered);
  // The loader resolves $ORIGIN from the real file, as the kernel does.
  const std::string real = gathered.files.front().path;
  std::vector<std::string> more;
  for (const std::string& path : files) AddTree(path, gathered, more);
  const auto loader = ElfInterpreter(real);
  if (!loader) return gathered.files;
  AddFile(*loader, gathered);

  CommandOptions options;
  options.unset = {"LD_PRELOAD"};
  if (const auto own = env.find("LD_LIBRARY_PATH"); own != env.end()) {
    options.env["LD_LIBRARY_PATH"] = own->second;
  }
  const CommandResult listed = RunCommand({*loader, "--list", real}, options);
  if (!listed.ok()) {
    ParseLoaderList(listed.out, program);
    Refuse(program, listed.Describe());
  }
  for (const std::string& path : ParseLoaderList(listed.out, program)) AddFile(path, gathered);
  for (const std::string& path : more) {
    if (!IsElf(path)) continue;
    const CommandResult libraries = RunCommand({*loader, "--list", path}, options);
    for (const std::string& library : ReadLoaderList(libraries.out).paths)
      AddFile(library, gathered);
  }
  return gathered.files;
}

}  // namespace throttletest::internal
