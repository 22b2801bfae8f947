// The options of `throttletest attach`, as typed and as understood.
#pragma once

#include <CLI/App.hpp>
#include <string>
#include <vector>

#include "cli/load_options.h"
#include "cli/verdict_options.h"
#include "throttletest/service/attach.h"

namespace throttletest::cli {

// As typed.
struct AttachText {
  std::string pid, container, engine, cgroup;
  std::string port;
  LoadText load;
  VerdictText verdict;
  std::vector<std::string> command;  // after "--": refused, nothing is started
};

// As understood.
struct AttachSettings {
  AttachSpec spec;
  MeasureSettings measure;
};

// Declares the options on `app`, bound to `text`.
void DeclareAttachOptions(CLI::App& app, AttachText& text);

// Understands them all, before anything is looked for. Errors: kInvalidArgument naming the option.
AttachSettings Understand(const AttachText& text);

}  // namespace throttletest::cli
