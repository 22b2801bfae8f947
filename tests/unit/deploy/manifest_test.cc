#include "throttletest/deploy/manifest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "refusal.h"
#include "support/temp_tree.h"
#include "throttletest/deploy/deployment_file.h"

namespace throttletest {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;
using testing_support::Refusal;
using testing_support::TempTree;
using testing_support::Without;

class Manifest : public testing::Test {
 protected:
  DeployedServices All(const std::string& text) {
    tree_.Write("m.yaml", text);
    return ServicesFromManifest(tree_.Path("m.yaml"));
  }
  // A pod with one container that has these limits.
  Limits Read(const std::string& limits) {
    tree_.Write("m.yaml",
                "kind: Pod\nmetadata: {name: p}\nspec:\n  containers:\n    - name: web\n"
                "      resources:\n        limits: " +
                    limits + "\n");
    return LimitsFromManifest(tree_.Path("m.yaml"), "web");
  }
  std::string Message(const std::string& text, const std::string& container = "web") {
    tree_.Write("m.yaml", text);
    return Without(Refusal([&] { LimitsFromManifest(tree_.Path("m.yaml"), container); }),
                   tree_.root() + "/");
  }

  TempTree tree_;
};

TEST_F(Manifest, ReadsLimitsWithTheirLines) {
  const Limits limits = Read("{cpu: 1750m, memory: 64Mi}");
  // The kubelet gives no swap.
  EXPECT_EQ(limits, (Limits{.cpus = 1.75, .memory = 64_MiB, .memory_swap = 64_MiB}));
  EXPECT_EQ(Without(ToString(limits.origins), tree_.root() + "/"),
            "m.yaml:7: containers.web.resources.limits.cpu: 1750m; "
            "m.yaml:7: containers.web.resources.limits.memory: 64Mi");
}

TEST_F(Manifest, RoundsAsTheKubelet) {
  EXPECT_EQ(Read("{cpu: 0.1255}").cpus, 0.126);
  EXPECT_EQ(Read("{cpu: 500u}").cpus, 0.01);
  EXPECT_EQ(Read("{cpu: 9m}").cpus, 0.01);
  EXPECT_EQ(Read("{cpu: 10m}").cpus, 0.01);
  EXPECT_EQ(Read("{cpu: 0}"), Limits{});
  EXPECT_EQ(Read("{memory: 0}"), Limits{});
  EXPECT_EQ(Read("{memory: 10000000.5}").memory->bytes(), 10'000'001);
}

TEST_F(Manifest, TellsOfRoundingsAndOfZero) {
  const auto note = [&](const std::string& cpu) {
    Read("{cpu: " + cpu + "}");
    const auto notes = ServicesFromManifest(tree_.Path("m.yaml")).at(0).notes;
    return notes.empty() ? "" : notes.at(0);
  };
  EXPECT_THAT(note("5m"), HasSubstr("m.yaml:7: containers.web.resources.limits.cpu: \"5m\" becomes "
                                    "0.01 CPUs: the kernel takes no quota below 1 ms"));
  EXPECT_THAT(note("0.1255"), HasSubstr("\"0.1255\" is rounded up to 126 thousandths"));
  EXPECT_THAT(note("0"), HasSubstr("0 means no limit"));
  EXPECT_EQ(note("250m"), "");
}

TEST_F(Manifest, TakesTheLimitForARequestThatIsNotThere) {
  const auto services =
      All("kind: Pod\nmetadata: {name: p}\nspec:\n  containers:\n"
          "    - {name: a, resources: {limits: {cpu: 1, memory: 64Mi}}}\n"
          "    - {name: b, resources: {limits: {cpu: 1}, requests: {cpu: 250m, memory: 1Gi}}}\n"
          "    - {name: c}\n");
  EXPECT_EQ(services.at(0).cpu_request, 1.0);
  EXPECT_EQ(services.at(0).memory_request, 64_MiB);
  EXPECT_EQ(services.at(1).cpu_request, 0.25);
  EXPECT_EQ(services.at(1).memory_request, 1_GiB);
  EXPECT_EQ(services.at(1).cpu_request_origin->line, 6);
  EXPECT_EQ(services.at(2).cpu_request, std::nullopt);
  EXPECT_EQ(services.at(2).limits, Limits{});
}

TEST_F(Manifest, KnowsWhereEveryKindHasItsPod) {
  std::string text;
  for (const char* kind : {"Deployment", "StatefulSet", "ReplicaSet", "ReplicationController"}) {
    text += std::string("kind: ") + kind +
            "\nmetadata: {name: x}\nspec: {replicas: 2, template: {spec: {containers: "
            "[{name: c}]}}}\n---\n";
  }
  text +=
      "kind: DaemonSet\nmetadata: {name: x}\nspec: {template: {spec: {containers: [{name: c}]}}}\n"
      "---\nkind: Job\nmetadata: {generateName: x-}\nspec: {parallelism: 3, template: {spec: "
      "{containers: [{name: c}]}}}\n"
      "---\nkind: CronJob\nmetadata: {name: x}\nspec: {jobTemplate: {spec: {parallelism: 4, "
      "template: {spec: {containers: [{name: c}]}}}}}\n"
      "---\nkind: Pod\nspec: {containers: [{name: c}]}\n";
  std::vector<std::string> names;
  for (const DeployedService& s : All(text)) {
    names.push_back(s.name + " " + std::to_string(s.replicas));
  }
  EXPECT_THAT(names, ElementsAre("Deployment/x/c 2", "StatefulSet/x/c 2", "ReplicaSet/x/c 2",
                                 "ReplicationController/x/c 2", "DaemonSet/x/c 1", "Job/x-/c 3",
                                 "CronJob/x/c 4", "Pod/unnamed/c 1"));
}

TEST_F(Manifest, TellsInitContainersFromSidecars) {
  const auto services =
      All("kind: Pod\nmetadata: {name: p}\nspec:\n  initContainers:\n"
          "    - {name: first}\n    - {name: mesh, restartPolicy: Always}\n"
          "  containers:\n    - {name: web}\n");
  EXPECT_EQ(services.at(0).kind, DeployedService::Kind::kInit);
  EXPECT_EQ(services.at(1).kind, DeployedService::Kind::kSidecar);
  EXPECT_EQ(services.at(2).kind, DeployedService::Kind::kContainer);
}

TEST_F(Manifest, PassesOverOtherKindsAndSaysWhichChangeTheFigures) {
  const auto services =
      All("kind: Service\nspec: {ports: []}\n---\nkind: LimitRange\n---\n"
          "kind: Pod\nmetadata: {name: p}\nspec: {containers: [{name: web}]}\n");
  ASSERT_EQ(services.size(), 1u);
  EXPECT_THAT(services.at(0).notes,
              ElementsAre(HasSubstr("m.yaml:4: a LimitRange may change these figures")));
  EXPECT_TRUE(All("kind: Service\n").empty());
}

TEST_F(Manifest, DoesNotCountASuspendedJob) {
  const auto services = All(
      "kind: CronJob\nmetadata: {name: x}\nspec: {suspend: true, jobTemplate: {spec: {template: "
      "{spec: {containers: [{name: c}]}}}}}\n");
  EXPECT_EQ(services.at(0).replicas, 0);
  EXPECT_THAT(services.at(0).notes, ElementsAre(HasSubstr("CronJob/x is suspended: not counted")));
}

TEST_F(Manifest, AsksForMoreWhenANameIsThereSeveralTimes) {
  const std::string text =
      "kind: Job\nmetadata: {name: a}\nspec: {template: {spec: {containers: [{name: web, "
      "resources: "
      "{limits: {cpu: 1}}}]}}}\n---\n"
      "kind: Pod\nmetadata: {name: b}\nspec:\n  containers:\n  - {name: web, resources: {limits: "
      "{cpu: 2}}}\n";
  EXPECT_EQ(Message(text),
            "m.yaml: \"web\" is the name of 2 containers: Job/a/web (m.yaml:3), Pod/b/web "
            "(m.yaml:9); write one of them as it stands here");
  EXPECT_EQ(LimitsFromManifest(tree_.Path("m.yaml"), "b/web").cpus, 2.0);
  EXPECT_EQ(LimitsFromManifest(tree_.Path("m.yaml"), "Job/a/web").cpus, 1.0);
  EXPECT_EQ(Message(text, "db"),
            "m.yaml: there is no container \"db\"; there are: Job/a/web (m.yaml:3), Pod/b/web "
            "(m.yaml:9)");
  // Part of a name is none.
  EXPECT_THAT(Message(text, "eb"), HasSubstr("there is no container \"eb\""));
}

struct Broken {
  const char* name;
  const char* text;
  const char* message;
};
void PrintTo(const Broken& broken, std::ostream* os) { *os << broken.text; }

class BrokenManifest : public Manifest, public testing::WithParamInterface<Broken> {};

TEST_P(BrokenManifest, IsRefusedWithFileLineAndReason) {
  EXPECT_THAT(Message(GetParam().text), StartsWith(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    Files, BrokenManifest,
    testing::ValuesIn(std::vector<Broken>{
        {"Empty", "---\n", "m.yaml: nothing in it"},
        {"NoMapping", "kind\n", "m.yaml:1: an object is \"kind\", not a mapping"},
        {"NoKind", "spec: {}\n", "m.yaml:1: an object without \"kind\": no Kubernetes manifest"},
        {"NoPod", "kind: Deployment\nmetadata: {name: x}\nspec: {replicas: 1}\n",
         "m.yaml:1: Deployment/x has no spec.template.spec"},
        {"NoContainers", "kind: Pod\nmetadata: {name: x}\nspec:\n  volumes: []\n",
         "m.yaml:3: Pod/x has no containers"},
        {"ContainersAsMapping", "kind: Pod\nspec:\n  containers:\n    web: {}\n",
         "m.yaml:3: Pod/unnamed: containers is a mapping, not a list"},
        {"ContainerAsText", "kind: Pod\nspec:\n  containers:\n  - web\n",
         "m.yaml:4: Pod/unnamed: a container is \"web\", not a mapping"},
        {"NoName", "kind: Pod\nspec:\n  containers:\n  - image: x\n",
         "m.yaml:4: Pod/unnamed: a container has no name"},
        {"TwiceTheSame", "kind: Pod\nspec:\n  containers:\n  - name: web\n  - name: web\n",
         "m.yaml:5: \"Pod/unnamed/web\" is there twice, first in line 4"},
        {"Cpu",
         "kind: Pod\nspec:\n  containers:\n  - name: web\n    resources:\n      limits:\n        "
         "cpu: half\n",
         "m.yaml:7: containers.web.resources.limits.cpu: \"half\" is not a quantity: write, for "
         "example, 500m, 1.5 or 512Mi"},
        {"NegativeCpu",
         "kind: Pod\nspec: {containers: [{name: web, resources: {limits: {cpu: -1}}}]}\n",
         "m.yaml:2: containers.web.resources.limits.cpu: \"-1\" is below 0"},
        {"TooManyCpus",
         "kind: Pod\nspec: {containers: [{name: web, resources: {limits: {cpu: 1E}}}]}\n",
         "m.yaml:2: containers.web.resources.limits.cpu: \"1E\" is more CPUs than a machine has"},
        {"MemoryInCompose",
         "kind: Pod\nspec: {containers: [{name: web, resources: {limits: {memory: 1gb}}}]}\n",
         "m.yaml:2: containers.web.resources.limits.memory: \"1gb\" is not a quantity"},
        {"MemoryInThousandths",
         "kind: Pod\nspec: {containers: [{name: web, resources: {limits: {memory: 512m}}}]}\n",
         "m.yaml:2: containers.web.resources.limits.memory: \"512m\" is thousandths of a byte; did "
         "you mean 512Mi?"},
        {"MemoryTooLarge",
         "kind: Pod\nspec: {containers: [{name: web, resources: {limits: {memory: 9Ei}}}]}\n",
         "m.yaml:2: containers.web.resources.limits.memory: \"9Ei\" is too large"},
        {"LimitsAsList",
         "kind: Pod\nspec:\n  containers:\n  - name: web\n    resources:\n      limits: [1]\n",
         "m.yaml:6: containers.web.resources.limits is a list, not a mapping"},
        {"Request",
         "kind: Pod\nspec: {containers: [{name: web, resources: {requests: {cpu: x}}}]}\n",
         "m.yaml:2: containers.web.resources.requests.cpu: \"x\" is not a quantity"},
        {"Replicas",
         "kind: Deployment\nspec:\n  replicas: two\n  template: {spec: {containers: []}}\n",
         "m.yaml:3: spec.replicas: \"two\" is not a whole number 0..100000"},
        {"PodResources",
         "kind: Pod\nspec:\n  resources: {limits: {cpu: 1}}\n  containers: [{name: web}]\n",
         "m.yaml:3: Pod/unnamed: resources of the pod as a whole are not understood"},
        {"UnknownKind", "kind: Rollout\nspec: {template: {spec: {containers: [{name: web}]}}}\n",
         "m.yaml:1: kind \"Rollout\" has containers and is not understood"},
    }),
    [](const auto& row) { return std::string(row.param.name); });

TEST_F(Manifest, ToldFromComposeByWhatIsInIt) {
  tree_.Write("a.yaml", "kind: Pod\nmetadata: {name: p}\nspec: {containers: [{name: web}]}\n");
  tree_.Write("b.yaml", "services: {web: {}}\n");
  tree_.Write("c.yaml", "volumes: {}\n");
  EXPECT_EQ(ServicesFromFile(tree_.Path("a.yaml")).at(0).name, "Pod/p/web");
  EXPECT_EQ(ServicesFromFile(tree_.Path("b.yaml")).at(0).name, "web");
  EXPECT_EQ(Refusal([&] { ServicesFromFile(tree_.Path("c.yaml")); }),
            tree_.Path("c.yaml") +
                ": neither a Compose file (\"services\") nor a Kubernetes manifest (\"kind\")");
}

}  // namespace
}  // namespace throttletest
