// The `throttletest` command: measure a service under limits without writing a test.
#include <fmt/format.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <exception>
#include <string>
#include <vector>

#include "base/process_setup.h"
#include "cli/attach_command.h"
#include "cli/audit_command.h"
#include "cli/clean_command.h"
#include "cli/doctor_command.h"
#include "cli/exit_status.h"
#include "cli/job_command.h"
#include "cli/job_options.h"
#include "cli/option_values.h"
#include "cli/output.h"
#include "cli/run_command.h"
#include "cli/run_options.h"
#include "throttletest/base/error.h"

namespace throttletest::cli {
namespace {

constexpr const char* kFooter =
    "Exit status: 0 budgets met, 1 a budget missed, 2 usage, 3 inconclusive, 4 cannot measure "
    "here\n"
    "(or the service did not start), 5 throttletest failed, 130 interrupted.\n\n"
    "Example:\n"
    "  throttletest run --cpus 1 --batch 8 --every 1s --duration 20s --get '/burn?ms=20' \\\n"
    "    --budget 'throttle_ratio<0.05' --budget 'p99<150ms' -- burn_server --port={port} "
    "--threads=8";

constexpr const char* kAttachFooter =
    "The service is only looked at: never stopped, signalled, limited or otherwise changed. It is "
    "measured\n"
    "under the limits it is found under. Exit status as for run; 4: there is nothing to attach "
    "to.\n\n"
    "Example:\n"
    "  throttletest attach --container web --port 8080 --rate 100 --duration 20s --get / \\\n"
    "    --budget 'throttle_ratio<0.05' --budget 'p99<150ms'";

constexpr const char* kJobFooter =
    "The job must exit with status 0, unless a budget of exit_status says otherwise. Exit status "
    "as "
    "for run;\n"
    "1: a budget missed, or the job failed, was killed or was stopped at its timeout.\n\n"
    "Example:\n"
    "  throttletest job --cpus 0.5 --budget 'elapsed<10s' --compare-unlimited \\\n"
    "    --budget 'elapsed_ratio<2.2' -- sysbench cpu --events=10000 --time=0 run";

constexpr const char* kAuditFooter =
    "A file may be a Compose file or a Kubernetes manifest; services of several files are on one "
    "machine.\n"
    "Exit status: 0 the limits fit, 1 they do not, 2 a file is not understood, 3 a service has no "
    "limit.\n\n"
    "Example:\n"
    "  throttletest audit --cpus 4 compose.yaml monitoring.yaml";

// Splits the words at the first "--": what follows belongs to the service and is never ours to
// read.
std::vector<std::string> TakeCommand(std::vector<std::string>& words) {
  const auto dashes = std::find(words.begin(), words.end(), "--");
  if (dashes == words.end()) return {};
  std::vector<std::string> command(dashes + 1, words.end());
  words.erase(dashes, words.end());
  return command;
}

int Main(std::vector<std::string> words) {
  CLI::App app("Measures what a CPU limit does to a service.", "throttletest");
  app.set_version_flag("--version", std::string("throttletest ") + THROTTLETEST_VERSION);
  app.require_subcommand(1);
  app.footer(kFooter);

  RunText text;
  text.command = TakeCommand(words);
  CLI::App* run = app.add_subcommand("run", "Start a service under limits, load it, judge budgets");
  run->footer(kFooter);
  DeclareRunOptions(*run, text);
  JobText job_text;
  CLI::App* job = app.add_subcommand("job", "Run a command to its end under limits, judge budgets");
  job->footer(kJobFooter);
  DeclareJobOptions(*job, job_text);
  AttachText attach_text;
  CLI::App* attach =
      app.add_subcommand("attach", "Load a service that runs already, judge budgets, leave it be");
  attach->footer(kAttachFooter);
  DeclareAttachOptions(*attach, attach_text);
  AuditText audit_text;
  CLI::App* audit =
      app.add_subcommand("audit", "Add up the limits of deployment files against a machine");
  audit->footer(kAuditFooter);
  DeclareAuditOptions(*audit, audit_text);
  bool json = false;
  CLI::App* doctor = app.add_subcommand("doctor", "Say what this machine can and cannot do");
  doctor->add_flag("--json", json, "As JSON");
  CleanOptions clean_options;
  CLI::App* clean = app.add_subcommand("clean", "Remove what killed test processes have left");
  clean->add_flag("--dry-run", clean_options.dry_run, "Only list it");
  clean->add_flag("--json", clean_options.json, "As JSON");
  clean->footer("Exit status: 0 nothing is left, 4 something is.");

  RefuseEmptyFlags(words);
  try {
    std::reverse(words.begin(), words.end());  // CLI11 takes them from the back
    app.parse(words);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? kBudgetsMet : kUsage;
  }
  if (doctor->parsed()) return Doctor(json);
  if (audit->parsed()) return AuditFiles(audit_text);
  if (attach->parsed()) {
    attach_text.command = text.command;
    return Attach(attach_text);
  }
  if (job->parsed()) {
    job_text.run.command = text.command;
    return RunOneJob(job_text);
  }
  if (clean->parsed()) return Clean(clean_options);
  return Run(text);
}

}  // namespace
}  // namespace throttletest::cli

int main(int argc, char** argv) {
  namespace cli = throttletest::cli;
  throttletest::internal::PrepareProcess();
  try {
    const int status = cli::Main({argv + 1, argv + argc});
    if (cli::FinishOutput()) return status;
    cli::Tell("throttletest: cannot write the result to standard output\n");
    return status == cli::kBudgetsMet ? cli::kOwnError : status;
  } catch (const throttletest::Error& e) {
    cli::Tell(fmt::format("throttletest: {}\n", e.what()));
    return cli::StatusOf(e.code());
  } catch (const std::exception& e) {
    cli::Tell(fmt::format("throttletest: unexpected: {}\n", e.what()));
    return cli::kOwnError;
  }
}
