// Error: the one exception type of throttletest, for "could not measure".
//
// A budget that was missed is never an Error (that is a verdict), and a figure the kernel does not
// publish is never an Error (that is an Outcome that is not available).
//
//   try { StartService(spec); }
//   catch (const throttletest::Error& e) { std::cerr << e.what(); }
#pragma once

#include <stdexcept>
#include <string>

namespace throttletest {

// What kind of step failed. Scripts and the command line map these to exit statuses.
enum class ErrorCode {
  kInvalidArgument,     // the caller asked for something that cannot be; says the range and the fix
  kUnsupported,         // this machine cannot do it (no engine, no controller); says the way out
  kPermission,          // the machine could, this user may not; says the way out
  kNoContainerRuntime,  // the engine's command is missing or its daemon does not answer
  kServiceStart,        // the service could not be started, or its limits did not take
  kNotReady,            // it started but did not become ready; says exited / OOM-killed / timed out
  kCgroup,              // a control file could not be read or written
  kParse,               // a control file or text is malformed; quotes the line
  kLoad,                // the load engine itself failed (not a failed request)
  kInterrupted,         // SIGINT or a stop request ended the measurement
};

// Stable lower-case name of a code, for messages and JSON, e.g. "not_ready".
const char* ErrorCodeName(ErrorCode code);

// Could not measure. what() names the step and the evidence: command, exit status and last lines of
// stderr, or file and offending line.
class Error : public std::runtime_error {
 public:
  Error(ErrorCode code, const std::string& message) : std::runtime_error(message), code_(code) {}
  ErrorCode code() const { return code_; }

 private:
  ErrorCode code_;
};

}  // namespace throttletest
