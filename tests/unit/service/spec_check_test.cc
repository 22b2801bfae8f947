#include "service/spec_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "service/program.h"
#include "support/temp_tree.h"
#include "throttletest/base/error.h"

namespace throttletest::internal {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

ServiceSpec Good() { return {.command = {"/bin/sh", "--port={port}"}}; }

std::string Refusal(const ServiceSpec& spec, LauncherKind kind = LauncherKind::kCgroup) {
  try {
    CheckSpec(spec, kind);
    return "accepted";
  } catch (const Error& error) {
    return std::string(ErrorCodeName(error.code())) + ": " + error.what();
  }
}

TEST(LauncherName, ParsesWhatItPrints) {
  for (const auto kind :
       {LauncherKind::kAuto, LauncherKind::kCgroup, LauncherKind::kDocker, LauncherKind::kPodman}) {
    EXPECT_EQ(ParseLauncher(LauncherName(kind)), kind);
  }
}

TEST(LauncherName, RefusesAnUnknownNameQuotingIt) {
  try {
    ParseLauncher("dokcer");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
    EXPECT_THAT(error.what(), AllOf(HasSubstr("\"dokcer\""), HasSubstr("docker")));
  }
}

TEST(LauncherName, AttachedIsNotOneToStartWith) {
  EXPECT_STREQ(LauncherName(LauncherKind::kAttached), "attached");
  EXPECT_THROW(ParseLauncher("attached"), Error);
  EXPECT_THAT(
      Refusal(Good(), LauncherKind::kAttached),
      HasSubstr("invalid_argument: launcher \"attached\" starts nothing: use AttachService"));
}

TEST(CheckSpec, AcceptsAPlainService) { EXPECT_EQ(Refusal(Good()), "accepted"); }

TEST(CheckSpec, FilesAreThereAndNamedFromTheRoot) {
  const testing_support::TempTree tree;
  tree.Write("plugin", "x");
  ServiceSpec spec = Good();
  spec.files = {tree.Path("plugin"), tree.root()};
  EXPECT_EQ(Refusal(spec), "accepted");
  spec.files = {"plugin"};
  EXPECT_THAT(Refusal(spec), HasSubstr("file \"plugin\" is not an absolute path"));
  spec.files = {tree.Path("none")};
  EXPECT_THAT(Refusal(spec), HasSubstr("/none\" is not there: no such file or folder"));
  spec.files = {tree.root()};
  spec.image = "debian:12";
  EXPECT_THAT(Refusal(spec, LauncherKind::kDocker),
              HasSubstr("cannot be added to image \"debian:12\""));
}

TEST(CheckSpec, RefusesAnEmptyCommand) {
  ServiceSpec spec = Good();
  spec.command.clear();
  EXPECT_THAT(Refusal(spec), HasSubstr("invalid_argument: the service has no command"));
  spec.command = {""};
  EXPECT_THAT(Refusal(spec), HasSubstr("starts with an empty word"));
}

TEST(CheckSpec, AnImageMayBringItsCommand) {
  ServiceSpec spec = Good();
  spec.command.clear();
  spec.image = "localhost/app:1";
  EXPECT_EQ(Refusal(spec, LauncherKind::kDocker), "accepted");
}

TEST(CheckSpec, RefusesAMissingProgramByName) {
  ServiceSpec spec = Good();
  spec.command[0] = "burn_servr";
  EXPECT_THAT(Refusal(spec), HasSubstr("service_start: burn_servr: not found in PATH"));
  spec.command[0] = "/nowhere/burn_servr";
  EXPECT_THAT(Refusal(spec), HasSubstr("/nowhere/burn_servr: No such file"));
  spec.command[0] = "/tmp";
  EXPECT_THAT(Refusal(spec), HasSubstr("/tmp: is a directory"));
}

TEST(CheckSpec, TheProgramOfAnImageIsNotLookedUpHere) {
  ServiceSpec spec = Good();
  spec.command[0] = "/only/in/the/image";
  spec.image = "localhost/app:1";
  EXPECT_EQ(Refusal(spec, LauncherKind::kPodman), "accepted");
}

TEST(CheckSpec, TheCgroupLauncherRefusesContainerThings) {
  ServiceSpec spec = Good();
  spec.image = "localhost/app:1";
  EXPECT_THAT(Refusal(spec), HasSubstr("image \"localhost/app:1\" needs a container engine"));
  spec = Good();
  spec.container_port = 8080;
  EXPECT_THAT(Refusal(spec), HasSubstr("container_port 8080 needs a container engine"));
  EXPECT_EQ(Refusal(spec, LauncherKind::kDocker), "accepted");
}

TEST(CheckSpec, RefusesContainerPortZero) {
  ServiceSpec spec = Good();
  spec.container_port = 0;
  EXPECT_THAT(Refusal(spec, LauncherKind::kDocker), HasSubstr("container_port 0"));
}

TEST(CheckSpec, RefusesBadEnvironmentNamesWithoutTellingSecrets) {
  ServiceSpec spec = Good();
  spec.env["A=B"] = "1";
  EXPECT_THAT(Refusal(spec), HasSubstr("\"A=B\""));
  spec = Good();
  spec.secret_env["KEY"] = std::string("hidden\0", 7);
  EXPECT_THAT(Refusal(spec), AllOf(HasSubstr("\"KEY\""), ::testing::Not(HasSubstr("hidden"))));
}

TEST(CheckSpec, RefusesANegativeGraceTime) {
  ServiceSpec spec = Good();
  spec.stop_grace = std::chrono::seconds(-1);
  EXPECT_THAT(Refusal(spec), HasSubstr("stop_grace -1 s"));
}

TEST(CheckSpec, RefusesAZeroByteInAnArgument) {
  ServiceSpec spec = Good();
  spec.command.emplace_back(std::string("a\0b", 3));
  EXPECT_THAT(Refusal(spec), HasSubstr("zero byte"));
}

TEST(FillPort, ReplacesEveryOccurrence) {
  EXPECT_EQ(FillPort("--a={port} --b={port}", 8080), "--a=8080 --b=8080");
  EXPECT_EQ(FillPort("none", 8080), "none");
  EXPECT_EQ(FillPort("{port}", 80), "80");
  EXPECT_EQ(FillPort("", 80), "");
  EXPECT_EQ(FillPort("{PORT}{port", 80), "{PORT}{port");
}

TEST(MakeRequest, FillsCommandAndBothEnvironments) {
  ServiceSpec spec = Good();
  spec.env["LISTEN"] = "127.0.0.1:{port}";
  spec.secret_env["URL"] = "http://u:p@h:{port}";
  const LaunchRequest request = MakeRequest(spec, 4711, {});
  EXPECT_THAT(request.command, ElementsAre("/bin/sh", "--port=4711"));
  EXPECT_EQ(request.env.at("LISTEN"), "127.0.0.1:4711");
  EXPECT_EQ(request.secret_env.at("URL"), "http://u:p@h:4711");
  EXPECT_EQ(request.container_port, 0);
  EXPECT_TRUE(UsesPort(spec));
}

TEST(UsesPort, IsFalseWhenNobodyIsToldThePort) {
  ServiceSpec spec = Good();
  spec.command = {"/bin/sh", "--port=80"};
  EXPECT_FALSE(UsesPort(spec));
  spec.secret_env["P"] = "{port}";
  EXPECT_TRUE(UsesPort(spec));
  spec.secret_env.clear();
  spec.container_port = 80;
  EXPECT_TRUE(UsesPort(spec));
}

TEST(FindProgram, SearchesThePathInOrder) {
  const testing_support::TempTree tree;
  tree.Write("a/tool", "not executable");
  tree.Write("b/tool", "#!/bin/true\n");
  std::filesystem::permissions(tree.Path("b/tool"), std::filesystem::perms::owner_all);
  const std::string path = tree.Path("a") + "::" + tree.Path("b");
  EXPECT_EQ(FindProgram("tool", path), tree.Path("b/tool"));
  EXPECT_EQ(FindProgram("other", path), std::nullopt);
  EXPECT_EQ(FindProgram(tree.Path("b/tool"), ""), tree.Path("b/tool"));
  EXPECT_EQ(FindProgram("", path), std::nullopt);
}

}  // namespace
}  // namespace throttletest::internal
