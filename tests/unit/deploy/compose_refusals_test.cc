// Compose files that are broken: each message has the file, the line, the reason and the text.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "refusal.h"
#include "support/temp_tree.h"
#include "throttletest/deploy/compose.h"

namespace throttletest {
namespace {

using testing::HasSubstr;
using testing::StartsWith;
using testing_support::Refusal;
using testing_support::TempTree;
using testing_support::Without;

struct Broken {
  const char* name;
  const char* text;
  const char* message;  // as it begins
};
void PrintTo(const Broken& broken, std::ostream* os) { *os << broken.text; }

class BrokenCompose : public testing::TestWithParam<Broken> {};

TEST_P(BrokenCompose, IsRefusedWithFileLineAndReason) {
  const TempTree tree;
  tree.Write("compose.yaml", GetParam().text);
  tree.Write("other.yaml", "services:\n  small: {cpus: 1}\n");
  tree.Write("none.yaml", "volumes: {}\n");
  const std::string message = Refusal(
      [&] { LimitsFromCompose(tree.Path("compose.yaml"), "web", {.use_environment = false}); });
  EXPECT_THAT(Without(message, tree.root() + "/"), StartsWith(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    Files, BrokenCompose,
    testing::ValuesIn(std::vector<Broken>{
        {"Empty", "# nothing\n", "compose.yaml: nothing in it"},
        {"NoMapping", "- web\n", "compose.yaml:1: the file is a list, not a mapping"},
        {"NoServices", "web:\n  image: x\n",
         "compose.yaml: no Compose file: it has no \"services\""},
        {"ServicesAsList", "services:\n  - web\n",
         "compose.yaml:1: services is a list, not a mapping"},
        {"ServiceAsText", "services:\n  web: nginx\n",
         "compose.yaml:2: services.web is \"nginx\", not a mapping"},
        {"NoSuchService", "services:\n  api: {}\n  db: {}\n",
         "compose.yaml:1: there is no service \"web\"; there are: api, db"},
        {"NoServiceAtAll", "services: {}\n",
         "compose.yaml:1: there is no service \"web\"; there are: none"},
        {"MaybeIncluded", "include: [other.yaml]\nservices:\n  api: {}\n",
         "compose.yaml:2: there is no service \"web\"; there are: api (files included in line 1 "
         "are "
         "not read: name the file that has it)"},
        {"Cpus", "services:\n  web:\n    cpus: fast\n",
         "compose.yaml:3: services.web.cpus: \"fast\" is not a number of CPUs: write, for example, "
         "\"0.5\""},
        {"CpusOfKubernetes", "services: {web: {cpus: 500m}}",
         "compose.yaml:1: services.web.cpus: \"500m\" is not a number of CPUs"},
        {"NegativeCpus", "services: {web: {cpus: -1}}",
         "compose.yaml:1: services.web.cpus: \"-1\" is not a number of CPUs"},
        {"CpusAsMapping", "services:\n  web:\n    cpus: {limit: 1}\n",
         "compose.yaml:3: services.web.cpus is a mapping, not a single value"},
        {"EmptyCpus", "services:\n  web:\n    cpus: ''\n",
         "compose.yaml:3: services.web.cpus is empty"},
        {"CpusBelowTheKernelsFloor", "services:\n  web:\n    cpus: 0.001\n",
         "cpus 0.001 is a quota of 100 us per 100000 us, and the kernel takes 1000 us or more"},
        {"UnsetVariable", "services:\n  web:\n    cpus: ${CPUS}\n",
         "compose.yaml:3: services.web.cpus: nothing is left of \"${CPUS}\", because CPUS is not "
         "set "
         "in the environment or in the .env file: set it, or write a default such as ${CPUS:-1}"},
        {"NeededVariable", "services:\n  web:\n    cpus: ${CPUS:?sizes come from the release}\n",
         "compose.yaml:3: services.web.cpus: \"${CPUS:?sizes come from the release}\" needs the "
         "variable CPUS, which is not set: sizes come from the release"},
        {"NoExpression", "services:\n  web:\n    cpus: ${CPUS/1/2}\n",
         "compose.yaml:3: services.web.cpus: \"${CPUS/1/2}\" is no variable Compose knows"},
        {"TwoValuesForCpus",
         "services:\n  web:\n    cpus: 2\n    deploy:\n      resources:\n        limits:\n"
         "          cpus: '0.5'\n",
         "compose.yaml:3: services.web.cpus is 2, but services.web.deploy.resources.limits.cpus in "
         "line 7 is 0.5: Compose refuses two different values; write one of them"},
        {"OnlyOneOfTwoPlaces",
         "services:\n  web:\n    cpus: 2\n    deploy:\n      resources:\n        limits:\n"
         "          memory: 1g\n",
         "compose.yaml:3: services.web.cpus is 2, but deploy.resources.limits in line 6 does not "
         "say "
         "so: Compose refuses that; write cpus there, too, or only there"},
        {"TwoValuesForMemory",
         "services: {web: {mem_limit: 1g, deploy: {resources: {limits: {memory: 2g}}}}}",
         "compose.yaml:1: services.web.mem_limit is 1g, but "
         "services.web.deploy.resources.limits.memory in line 1 is 2g"},
        {"CpusAndQuota", "services:\n  web:\n    cpus: 1\n    cpu_quota: 50000\n",
         "compose.yaml:3: services.web.cpus is 1, and services.web.cpu_quota in line 4 is 50000: "
         "Docker refuses both together; write one of them"},
        {"CpusAndPeriod", "services:\n  web:\n    cpu_period: 50000\n    cpus: 1\n",
         "compose.yaml:4: services.web.cpus is 1, and services.web.cpu_period in line 3 is 50000"},
        {"QuotaWithUnit", "services: {web: {cpu_quota: 50ms}}",
         "compose.yaml:1: services.web.cpu_quota: \"50ms\" is not a whole number of microseconds: "
         "write 50000 for 50 ms"},
        {"NegativePeriod", "services: {web: {cpu_period: -5}}",
         "compose.yaml:1: services.web.cpu_period: \"-5\" is below 0"},
        {"QuotaBelowTheKernelsFloor", "services: {web: {cpu_quota: 50}}",
         "quota 50 us is below 1000 us; did you mean 50 ms? (declared in "},
        {"Cpuset", "services:\n  web:\n    cpuset: 0-\n", "compose.yaml:3: services.web.cpuset: "},
        {"Memory", "services:\n  web:\n    mem_limit: lots\n",
         "compose.yaml:3: services.web.mem_limit: \"lots\" is not a memory size: write bytes or a "
         "number with k, m or g, such as 512m"},
        {"MemoryBelowTheFloor", "services: {web: {mem_limit: 4m}}",
         "memory 4194304 bytes is below 6291456 (6 MiB), the container engines' floor (declared "
         "in "},
        {"SwapWithoutMemory", "services: {web: {memswap_limit: 1g}}",
         "compose.yaml:1: services.web.memswap_limit: \"1g\" is memory plus swap and needs "
         "mem_limit"},
        {"SwapBelowMemory", "services: {web: {mem_limit: 1g, memswap_limit: 512m}}",
         "memory_swap 512 MiB is below memory 1 GiB"},
        {"Replicas", "services: {web: {deploy: {replicas: many}}}",
         "compose.yaml:1: services.web.deploy.replicas: \"many\" is not a whole number"},
        {"TooManyReplicas", "services: {web: {scale: 100001}}",
         "compose.yaml:1: services.web.scale: \"100001\" is outside 0..100000"},
        {"TwoScales", "services:\n  web:\n    scale: 2\n    deploy: {replicas: 3}\n",
         "compose.yaml:3: services.web.scale is 2, but services.web.deploy.replicas in line 4 is "
         "3: "
         "Compose refuses two different values"},
        {"Profiles", "services: {web: {profiles: debug}}",
         "compose.yaml:1: services.web.profiles is \"debug\", not a list"},
        {"DeployAsText", "services: {web: {deploy: yes}}",
         "compose.yaml:1: services.web.deploy is \"yes\", not a mapping"},
        {"ExtendsNobody", "services:\n  web:\n    extends: base\n",
         "compose.yaml:3: services.web.extends: there is no service \"base\" in compose.yaml; "
         "there "
         "are: web"},
        {"ExtendsWithoutService", "services:\n  web:\n    extends: {file: other.yaml}\n",
         "compose.yaml:3: services.web.extends names no service"},
        {"ExtendsAbsentFile", "services:\n  web:\n    extends: {file: gone.yaml, service: a}\n",
         "compose.yaml:3: services.web.extends: gone.yaml: cannot be read: No such file"},
        {"ExtendsNoComposeFile", "services:\n  web:\n    extends: {file: none.yaml, service: a}\n",
         "compose.yaml:3: services.web.extends: none.yaml: no Compose file"},
        {"ExtendsInACircle", "services:\n  web: {extends: b}\n  b:\n    extends: web\n",
         "compose.yaml:4: services.b.extends goes in a circle: \"web\" of compose.yaml comes "
         "again"},
        {"ExtendsItself", "services:\n  web: {extends: web}\n",
         "compose.yaml:2: services.web.extends goes in a circle"},
        {"NotYaml", "services:\n  web:\n    cpus: [1\n", "compose.yaml:4: not YAML: "},
    }),
    [](const auto& row) { return std::string(row.param.name); });

TEST(BrokenComposeFiles, IncludedFilesAreNotPassedOver) {
  const TempTree tree;
  tree.Write("compose.yaml", "services: {web: {cpus: 1}}\ninclude:\n  - other.yaml\n");
  EXPECT_EQ(
      Refusal([&] { ServicesFromCompose(tree.Path("compose.yaml")); }),
      tree.Path("compose.yaml") +
          ":2: \"include\" is not understood: give the output of \"docker compose config\", or "
          "the included files as well");
  EXPECT_EQ(LimitsFromCompose(tree.Path("compose.yaml"), "web").cpus, 1.0);
}

TEST(BrokenComposeFiles, ABrokenDotEnvIsNamed) {
  const TempTree tree;
  tree.Write("compose.yaml", "services: {web: {cpus: 1}}\n");
  tree.Write(".env", "GOOD=1\nbad line\n");
  EXPECT_THAT(Refusal([&] { LimitsFromCompose(tree.Path("compose.yaml"), "web"); }),
              HasSubstr("/.env:2: "));
}

}  // namespace
}  // namespace throttletest
