#include "bystanders.h"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>

namespace throttletest::test {

Bystanders::Bystanders(LauncherKind launcher)
    : launcher_(launcher), name_(fmt::format("throttletest-bystander-{}", ::getpid())) {
  ServiceSpec spec = Toy({"--port={port}"});
  spec.launcher = launcher;
  service_ = StartService(spec);
  MakeCgroup();
  if (launcher != LauncherKind::kCgroup) MakeContainer();
}

Bystanders::~Bystanders() {
  ::kill(process_, SIGKILL);
  ::waitpid(process_, nullptr, 0);
  for (int i = 0; i < 100 && ::rmdir(cgroup_.c_str()) != 0; ++i) ::usleep(10'000);
  if (!container_.empty()) internal::OpenEngine(launcher_).Call({"rm", "--force", name_});
}

void Bystanders::MakeCgroup() {
  cgroup_ = LocateCgroup(::getpid()).cpu->directory() + "/" + name_;
  std::filesystem::create_directory(cgroup_);
  process_ = ::fork();
  if (process_ == 0) {
    while (true) ::pause();
  }
  std::ofstream(cgroup_ + "/cgroup.procs") << process_ << std::flush;
}

// From the image of the living service.
void Bystanders::MakeContainer() {
  const internal::Engine engine = internal::OpenEngine(launcher_);
  std::string image;
  for (const std::string& thing : ThingsOf(launcher_, ::getpid())) {
    if (thing.starts_with("images ")) image = thing.substr(7);
  }
  std::vector<std::string> call = {"run",       "--detach",
                                   "--name",    name_,
                                   "--pull",    "never",
                                   "--label",   "throttletest.owner=nobody",
                                   "--label",   internal::UserLabel(),
                                   "--network", "host"};
  call.insert(call.end(), engine.run_options.begin(), engine.run_options.end());
  call.insert(call.end(), {image, TOY_SERVICE, "--sleep=36000000"});
  const internal::CommandResult result = engine.Call(call);
  container_ = result.ok() ? ContainerState() : "could not be made: " + result.Describe();
}

std::string Bystanders::ContainerState() const {
  return internal::OpenEngine(launcher_)
      .Call({"inspect", "--type", "container", "--format",
             "{{.Id}} {{.State.Running}} {{.State.Pid}} {{.State.StartedAt}}", name_})
      .out;
}

std::vector<std::string> Bystanders::Harm() const {
  std::vector<std::string> harm;
  if (!service_->alive()) harm.emplace_back("the living owner's service was ended");
  if (const auto trouble = service_->Trouble(); !trouble.empty()) harm.push_back(trouble);
  if (!std::filesystem::exists(cgroup_)) harm.push_back(cgroup_ + " was removed");
  if (!ProcessLives(process_)) harm.emplace_back("the process in it was killed");
  if (launcher_ == LauncherKind::kCgroup) return harm;
  const std::string now = ContainerState();
  if (now != container_ || now.find(" true ") == std::string::npos) {
    harm.push_back(fmt::format("container {}: {} became {}", name_, container_, now));
  }
  return harm;
}

}  // namespace throttletest::test
