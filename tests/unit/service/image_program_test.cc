#include "service/image_program.h"

#include <elf.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>

#include "support/temp_tree.h"
#include "throttletest/base/error.h"

namespace throttletest::internal {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using testing_support::TempTree;

std::string MessageOf(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::kServiceStart);
    return e.what();
  }
  return "no error";
}

// An ELF file with one program header.
std::string Elf(std::uint32_t segment_type, const std::string& text) {
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_phoff = sizeof header;
  header.e_phentsize = sizeof(Elf64_Phdr);
  header.e_phnum = 1;
  Elf64_Phdr segment{};
  segment.p_type = segment_type;
  segment.p_offset = sizeof header + sizeof segment;
  segment.p_filesz = text.size() + 1;
  std::string file(reinterpret_cast<const char*>(&header), sizeof header);
  file.append(reinterpret_cast<const char*>(&segment), sizeof segment);
  return file + text + '\0';
}

TEST(LoaderList, PathsAreReadFromAllForms) {
  EXPECT_THAT(ParseLoaderList("\tlinux-vdso.so.1 (0x00007ffd3a5f2000)\n"
                              "\tlibc.so.6 => /lib/x86_64-linux-gnu/libc.so.6 (0x00007f11)\n"
                              "\tlibodd.so => /opt/a b (c)/libodd.so (0x00007f12)\n"
                              "\t/lib64/ld-linux-x86-64.so.2 (0x00007f13)\n",
                              "p"),
              ElementsAre("/lib/x86_64-linux-gnu/libc.so.6", "/opt/a b (c)/libodd.so",
                          "/lib64/ld-linux-x86-64.so.2"));
}

TEST(LoaderList, OfAStaticProgramIsEmpty) {
  EXPECT_THAT(ParseLoaderList("\tstatically linked\n", "p"), IsEmpty());
  EXPECT_THAT(ParseLoaderList("", "p"), IsEmpty());
}

TEST(LoaderList, EveryMissingLibraryIsNamed) {
  const std::string text = MessageOf([] {
    ParseLoaderList(
        "\tliba.so.1 => not found\n\tlibc.so.6 => /lib/libc.so.6 (0x1)\n"
        "\tlibb.so.2 => not found\n",
        "/srv/app");
  });
  EXPECT_THAT(text, HasSubstr("\"/srv/app\""));
  EXPECT_THAT(text, HasSubstr("does not find liba.so.1, libb.so.2"));
}

TEST(ElfInterpreter, IsReadFromTheProgramHeaders) {
  const TempTree tree;
  tree.Write("dynamic", Elf(PT_INTERP, "/lib64/ld-test.so"));
  tree.Write("static", Elf(PT_LOAD, "x"));
  EXPECT_EQ(ElfInterpreter(tree.Path("dynamic")), "/lib64/ld-test.so");
  EXPECT_EQ(ElfInterpreter(tree.Path("static")), std::nullopt);
}

TEST(ElfInterpreter, AScriptIsRefusedWithTheWayOut) {
  const TempTree tree;
  tree.Write("run", "#!/usr/bin/python3\n");
  const std::string text = MessageOf([&] { ElfInterpreter(tree.Path("run")); });
  EXPECT_THAT(text, HasSubstr("it is a script (#!)"));
  EXPECT_THAT(text, HasSubstr("set `image`"));
}

TEST(ElfInterpreter, BrokenFilesAreRefused) {
  const TempTree tree;
  tree.Write("text", "hello, world; this is text\n");
  tree.Write("empty", "");
  tree.Write("cut", Elf(PT_INTERP, "/lib64/ld-test.so").substr(0, 80));
  tree.Write("cut-name", Elf(PT_INTERP, "/lib64/ld-test.so").substr(0, 125));
  EXPECT_THAT(MessageOf([&] { ElfInterpreter(tree.Path("text")); }), HasSubstr("not an ELF"));
  EXPECT_THAT(MessageOf([&] { ElfInterpreter(tree.Path("empty")); }), HasSubstr("not an ELF"));
  EXPECT_THAT(MessageOf([&] { ElfInterpreter(tree.Path("cut")); }), HasSubstr("cut short"));
  EXPECT_THAT(MessageOf([&] { ElfInterpreter(tree.Path("cut-name")); }), HasSubstr("cut short"));
  EXPECT_THAT(MessageOf([&] { ElfInterpreter(tree.Path("none")); }), HasSubstr("cannot be read"));
}

TEST(ProgramFiles, OfThisTestHoldItsLoaderAndTheCLibrary) {
  const std::string self = std::filesystem::canonical("/proc/self/exe").string();
  const auto files = ProgramFiles(self, {});
  EXPECT_EQ(files.front(), (ImageFile{self, self, ""}));
  EXPECT_THAT(files, Contains(Field(&ImageFile::path, HasSubstr("libc.so"))));
  EXPECT_THAT(files, Contains(Field(&ImageFile::path, *ElfInterpreter(self))));
  for (const ImageFile& file : files) EXPECT_TRUE(file.source.empty() != file.target.empty());
}

TEST(ProgramFiles, APathThroughLinksBecomesALinkToTheRealFile) {
  const TempTree tree;
  tree.Write("real/app", Elf(PT_LOAD, "x"));
  std::filesystem::create_symlink("real", tree.Path("folder"));
  std::filesystem::create_symlink("folder/app", tree.Path("app"));
  const std::string real = std::filesystem::canonical(tree.Path("app")).string();
  EXPECT_THAT(ProgramFiles(tree.Path("app"), {}),
              ElementsAre(ImageFile{real, real, ""}, ImageFile{tree.Path("app"), "", real}));
}

TEST(ProgramFiles, FurtherFoldersComeWithAllThatIsInThem) {
  const TempTree tree;
  tree.Write("app", Elf(PT_LOAD, "x"));
  tree.Write("lib/b/two.txt", "2");
  tree.Write("lib/one.txt", "1");
  tree.Write("conf/set.cfg", "3");
  std::filesystem::create_symlink(tree.Path("conf"), tree.Path("lib/conf"));
  std::filesystem::create_symlink("..", tree.Path("lib/b/round"));
  std::filesystem::create_symlink("nowhere", tree.Path("lib/dangling"));
  const std::string root = std::filesystem::canonical(tree.root()).string();
  const auto file = [&](const std::string& name) {
    return ImageFile{root + name, root + name, ""};
  };
  EXPECT_THAT(ProgramFiles(root + "/app", {}, {root + "/lib"}),
              ElementsAre(file("/app"), ImageFile{root + "/lib/b/round", "", root + "/lib"},
                          file("/lib/b/two.txt"), ImageFile{root + "/lib/conf", "", root + "/conf"},
                          file("/conf/set.cfg"), file("/lib/one.txt")));
}

TEST(ProgramFiles, OfFurtherLibrariesWhatTheyNeedIsIncluded) {
  const std::string self = std::filesystem::canonical("/proc/self/exe").string();
  const TempTree tree;
  // A copy of this test, which needs the C++ library, beside a program that may not.
  std::filesystem::copy_file(self, tree.Path("plugin"));
  const auto files = ProgramFiles("/bin/true", {}, {tree.Path("plugin")});
  EXPECT_THAT(files, Contains(Field(&ImageFile::path, HasSubstr("libstdc++"))));
  EXPECT_THAT(ProgramFiles("/bin/true", {}),
              Not(Contains(Field(&ImageFile::path, HasSubstr("libstdc++")))));
}

}  // namespace
}  // namespace throttletest::internal
