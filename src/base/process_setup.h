// What a program of ours does first of all.
#pragma once

namespace throttletest::internal {

// Puts /dev/null on standard streams that are closed, so that no file, pipe or socket of ours gets
// their numbers and is written to for them; output that is lost is still an error of the stream.
// Ignores SIGXFSZ: a file that grows too large is then an error of the write like a full disk.
// To be called before anything is opened.
void PrepareProcess();

}  // namespace throttletest::internal
